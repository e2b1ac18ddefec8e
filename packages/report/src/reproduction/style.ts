/** What pages of reproductions have besides the style of every report. */
export const reproductionStyle: string = `
.score{display:flex;gap:2px;align-items:flex-end;margin:4px 0 8px;max-width:640px;height:20px}
.score i{flex:1 1 0;min-width:2px;height:14px;background:var(--pass)}
.score i.warn{background:repeating-linear-gradient(135deg,var(--warn) 0 4px,var(--warnBg) 4px 6px)}.score i.miss{height:20px;background:var(--miss)}.score i.skip{background:none;border:1.5px dashed var(--skip)}
.tags{display:flex;flex-wrap:wrap;gap:6px;margin:0 0 14px}
.tag.skip{color:var(--skip);background:var(--skipBg)}
.what{font-size:12.5px;color:var(--muted);font-weight:400;line-height:1.35}
.notes{color:var(--muted);font-size:13.5px;max-width:80ch;padding-left:18px;margin:14px 0}.notes li{margin:3px 0}
.leg li{white-space:normal}
.call b{color:var(--ink)}
.claims td,.claims tbody th{vertical-align:middle;padding-top:7px;padding-bottom:7px}
.claims tbody th{color:var(--ink);font-size:13.5px;border-bottom:1px solid var(--grid);min-width:150px;overflow-wrap:anywhere}
.claims .words{white-space:normal;overflow-wrap:anywhere;min-width:120px}
.claims .sim b{font-weight:640}.claims .sim small{display:block}
.claims .at{width:30%}.claims .missed th,.claims .missed .sim b{color:var(--miss)}
.keys>span{display:inline-flex;align-items:center;gap:6px;margin-right:12px;white-space:nowrap}
.keys i{width:9px;height:9px;flex:none}.keys .kb i{width:16px;background:var(--h1);border:solid var(--h5);border-width:0 1.5px}
.keys .kp i,.sw.diamond{transform:rotate(45deg);border:2px solid var(--ink);background:var(--page)}.sw.diamond{width:9px;height:9px;border-radius:0;margin:0 2px}
.keys .ks i{border-radius:50%;background:var(--pass)}
.strip{position:relative;height:22px;min-width:120px}
.strip::before{content:"";position:absolute;left:0;right:0;top:50%;height:1px;background:var(--rule)}
.strip i,.strip b{position:absolute;display:block}
.strip .bd{top:3px;bottom:3px;background:var(--h1);border:solid var(--h5);border-width:0 1.5px;min-width:3px}.strip .bd.left{border-left:0}.strip .bd.right{border-right:0}
.strip .un{top:2px;bottom:2px;border-left:1.5px dashed var(--faint)}
.strip .pb{width:12px;height:12px;top:5px;margin-left:-6px;transform:rotate(45deg);background:var(--page);border:2px solid var(--ink)}.strip .pb.in{border-style:dotted}
.strip .rg{height:3px;top:9.5px;background:var(--ink)}
.strip .sm{width:8px;height:8px;border-radius:50%;top:7px;margin-left:-4px;background:var(--pass)}
.strip .sm.miss{width:10px;height:10px;top:6px;margin-left:-5px;background:var(--miss);border-radius:0}.strip .sm.warn{background:var(--warn)}.strip .sm.skip{background:var(--page);border:2px solid var(--skip)}
@media (max-width:700px){.claims thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}.claims,.claims tbody{display:block}.claims tbody tr{display:grid;grid-template-columns:1fr max-content;gap:0 12px;border-bottom:1px solid var(--rule);padding:9px 0 7px}.claims tbody th,.claims td{border:0;padding:1px 0}.claims .num{text-align:left}.claims td.num,.claims .at{grid-column:1/-1}.claims .at{width:auto}.claims .verdict{grid-row:1;grid-column:2;vertical-align:top}.claims .pub::before{content:"published ";color:var(--muted)}.claims .sim::before{content:"simulated ";color:var(--muted)}.claims .band::before{content:"band ";color:var(--muted)}.claims .sim small{display:inline;margin-left:8px}}
@media print{.claims tr{break-inside:avoid}}`;
