/** What pages of power cuts have besides the style of every report. */
export const crashStyle: string = `
.kpi .v{font-size:22px}
.bar{display:block;height:9px;min-width:2px;margin-top:6px;background:var(--miss);border-radius:1px}
.panel td:last-child{width:26%}
.case{border-top:1px solid var(--rule);padding:14px 0 10px;margin-top:14px}
.case h3{display:flex;gap:10px;align-items:baseline;flex-wrap:wrap}
.case>p{margin:6px 0 8px;max-width:90ch;overflow-wrap:anywhere}
.case pre{white-space:pre-wrap;overflow-wrap:anywhere}
.case .g{margin-top:8px}
.what{font-size:12.5px;color:var(--muted);margin:0 0 4px}
ol.time{list-style:none;margin:0;padding:0;font:12.5px/1.5 "JetBrains Mono",ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
ol.time li{display:grid;grid-template-columns:5ch 12px minmax(0,1fr);gap:0 10px;position:relative;padding:1px 0;overflow-wrap:anywhere}
ol.time li>b{font-weight:400;color:var(--faint);text-align:right}
ol.time li>i{position:relative;align-self:stretch}
ol.time li>i::before{content:"";position:absolute;left:5.5px;top:-1px;bottom:-1px;width:1px;background:var(--rule)}
ol.time li>i::after{content:"";position:absolute;left:2px;top:6px;width:8px;height:8px;border-radius:2px;background:var(--dot,var(--muted))}
ol.time .op{font-weight:620}.time .op>i::after{border-radius:50%;background:var(--ink)}
ol.time .done{font-weight:400}.time .done>i::after{background:var(--page);box-shadow:inset 0 0 0 2px var(--ink)}
ol.time .req>span{padding-left:14px}
ol.time .cut{color:var(--miss);font-weight:620;border-top:2px dashed var(--miss);margin-top:4px;padding-top:4px}.time .cut>i::after{background:var(--miss);transform:rotate(45deg)}
ul.diff{list-style:none;margin:0;padding:0;font:12.5px/1.6 "JetBrains Mono",ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
ul.diff .minus{color:var(--miss)}ul.diff .plus{color:var(--pass)}ul.diff .same{color:var(--warn)}
@media print{.case{break-inside:avoid}}`;
