import { NARROW, type Span, wideWidth } from '../figure.js';
import { dark, declarations, light } from '../tokens.js';

const spans: readonly Span[] = [4, 5, 6, 7, 8, 12];
/** From this width of the page on there are columns, and wide drawings fit their columns. */
const COLUMNS_FROM = 1170;

const themes = `
:root{color-scheme:light dark;${declarations(light)}}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){${declarations(dark)}}}
:root[data-theme=dark]{color-scheme:dark;${declarations(dark)}}
:root[data-theme=light]{color-scheme:light}`;

const text = `
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-padding-top:52px}
body{margin:0;overflow-x:clip;background:var(--page);color:var(--ink);font:15px/1.5 Inter,ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums lining-nums}
code,pre{font-family:"JetBrains Mono",ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-variant-ligatures:none}
code{font-size:.86em;background:var(--sunken);padding:.08em .34em;border-radius:3px;overflow-wrap:anywhere}
a{color:var(--accent);text-decoration-thickness:1px;text-underline-offset:2px}
.wrap{max-width:1200px;margin:0 auto;padding:0 28px}
header.top{padding:22px 0 0}
.brand{display:flex;align-items:center;gap:9px;font-size:13px;color:var(--muted)}
.brand b{color:var(--ink);font-weight:650;letter-spacing:-.01em}
.brand .gap{flex:1}
button{font:inherit;font-size:12.5px;color:var(--muted);background:none;border:1px solid var(--rule);border-radius:5px;padding:3px 9px;cursor:pointer}
button:focus-visible,a:focus-visible,summary:focus-visible,input:focus-visible,[tabindex]:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
h1{font-size:30px;line-height:1.15;letter-spacing:-.022em;font-weight:680;margin:16px 0 6px;text-wrap:balance;overflow-wrap:anywhere}
.sub{color:var(--muted);margin:0 0 4px;max-width:80ch;overflow-wrap:anywhere}
.finding{font-size:19px;line-height:1.45;letter-spacing:-.008em;max-width:62ch;margin:16px 0 20px;text-wrap:pretty}
.finding b{font-weight:650}
h2{font-size:21px;letter-spacing:-.015em;font-weight:660;margin:44px 0 2px;padding-top:18px;border-top:2px solid var(--ink)}
h2+.sub{margin-bottom:14px}
main>section:first-child h2{border-top:0;margin-top:12px}
h3{font-size:15px;line-height:1.35;font-weight:640;letter-spacing:-.005em;margin:0;text-wrap:balance;overflow-wrap:anywhere}
.cap{color:var(--muted);font-size:13px;line-height:1.45;margin:2px 0 10px;max-width:72ch}
.vh{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}`;

const parts = `
nav.toc{position:sticky;top:0;z-index:5;background:color-mix(in srgb,var(--page) 93%,transparent);border-bottom:1px solid var(--rule);margin-top:6px;backdrop-filter:blur(6px)}
nav.toc .wrap{display:flex;gap:20px;overflow-x:auto;scrollbar-width:none;font-size:13.5px}
nav.toc a{color:var(--muted);text-decoration:none;padding:9px 0;white-space:nowrap}
nav.toc a:hover{color:var(--ink)}
.kpis{display:grid;grid-template-columns:repeat(6,1fr);border-top:1px solid var(--rule);border-bottom:1px solid var(--rule);margin:0 0 6px}
.kpi{padding:12px 16px 12px 14px;border-left:1px solid var(--rule);min-width:0}
.kpi:first-child{border-left:0;padding-left:0}
.kpi .l,.kpi .n{font-size:12.5px;color:var(--muted);line-height:1.35}
.kpi .v{font-size:26px;line-height:1.25;font-weight:640;letter-spacing:-.025em;white-space:nowrap}
.kpi .v small{font-size:14px;font-weight:500;letter-spacing:0;color:var(--muted);margin-left:4px}
.g{display:grid;grid-template-columns:minmax(0,1fr);gap:30px 34px;margin-top:12px}
figure,.panel{margin:0;padding-top:10px;border-top:1px solid var(--rule);min-width:0}
.panel+.panel{margin-top:26px}.g>.panel+.panel{margin-top:0}
.fig{container-type:inline-size;position:relative}
.fig svg{display:block;width:100%;height:auto;overflow:visible;font-size:11.5px}
.fig .wide{display:none}.fig .slim{max-width:460px}
.fig .at{position:relative}
.cursor{position:absolute;top:0;bottom:0;width:1px;background:var(--ink);opacity:var(--on,0);pointer-events:none;left:calc(var(--l) + var(--at,0)*var(--w))}
.ramp{display:flex;align-items:center;gap:6px;font-size:11.5px;color:var(--muted);margin:0 0 2px}
.ramp>span{display:inline-flex;border:1px solid var(--rule)}.ramp i{width:13px;height:9px}
.leg{display:flex;flex-wrap:wrap;gap:3px 14px;font-size:12.5px;color:var(--ink);margin:6px 0 0;padding:0;list-style:none}
.leg li{display:flex;align-items:center;gap:6px;white-space:nowrap}
.sw{width:12px;height:12px;border-radius:2px;flex:none}
.sw.hatch{background-image:repeating-linear-gradient(135deg,transparent 0 2.2px,var(--hatch) 2.2px 4.4px)}
table{border-collapse:collapse;width:100%;font-size:13.5px;line-height:1.4}
th{font-weight:560;color:var(--muted);text-align:left;font-size:12.5px;padding:5px 14px 5px 0;border-bottom:1px solid var(--faint);vertical-align:bottom}
td{padding:5px 14px 5px 0;border-bottom:1px solid var(--grid);vertical-align:top}
tr>:last-child{padding-right:0}
.num{text-align:right;white-space:nowrap}
td small,th small{color:var(--muted);font-weight:400;font-size:12px}
tr.grp td{font-weight:640;border-bottom:1px solid var(--rule);padding-top:14px}
.tw{overflow-x:auto}
.tag{display:inline-flex;align-items:center;gap:5px;font-size:12.5px;font-weight:600;border-radius:4px;padding:1px 7px 1px 6px;white-space:nowrap}
.tag.pass{color:var(--pass);background:var(--passBg)}.tag.miss{color:var(--miss);background:var(--missBg)}.tag.warn{color:var(--warn);background:var(--warnBg)}
.up{color:var(--pass)}.down{color:var(--miss)}.same{color:var(--muted)}.best{font-weight:680}
.call{border-left:3px solid var(--rule);padding:2px 0 2px 12px;font-size:13.5px;color:var(--muted);margin:10px 0}
.call.warn{border-color:var(--cleaning)}.call.miss{border-color:var(--gc)}
details{margin-top:7px;font-size:12.5px}summary{color:var(--muted);cursor:pointer;width:max-content;max-width:100%}
details table{font-size:12.5px;margin-top:4px;width:auto;min-width:min(320px,100%)}
details.all table{width:100%}
pre{background:var(--sunken);border-radius:5px;padding:10px 13px;font-size:12.5px;line-height:1.5;overflow-x:auto;margin:8px 0}
input{font:inherit;font-size:13px;color:var(--ink);background:var(--surface);border:1px solid var(--rule);border-radius:5px;padding:3px 9px;width:min(320px,100%);margin:6px 0}
.script{display:none}.scripted .script{display:inline-block}
footer{margin:56px 0 40px;padding-top:12px;border-top:1px solid var(--rule);color:var(--muted);font-size:12.5px}`;

const columns =
  `@media (min-width:${COLUMNS_FROM}px){.g{grid-template-columns:repeat(12,minmax(0,1fr))}` +
  `${spans.map((span) => `.g>.s${span}{grid-column:span ${span}}`).join('')}}`;

// A wide drawing is shown where it keeps its size, the narrow one elsewhere: no text gets smaller than it was drawn.
const forms = spans
  .filter((span) => wideWidth(span) > NARROW)
  .map((span) => {
    const width = wideWidth(span);
    return `.s${span} .wide{max-width:${Math.round(width * 1.25)}px}@container (min-width:${width}px){.s${span} .wide{display:block}.s${span} .slim{display:none}}`;
  })
  .join('');

const states = `
@media (max-width:980px){.kpis{grid-template-columns:repeat(3,1fr)}.kpi:nth-child(3n+1){border-left:0;padding-left:0}.kpi:nth-child(n+4){border-top:1px solid var(--rule)}}
@media (max-width:560px){.wrap{padding:0 16px}h1{font-size:24px}.finding{font-size:17px}.kpis{grid-template-columns:repeat(2,1fr)}.kpi,.kpi:nth-child(3n+1){border-left:1px solid var(--rule);padding-left:14px}.kpi:nth-child(odd){border-left:0;padding-left:0}.kpi:nth-child(n+3){border-top:1px solid var(--rule)}.kpi .v{font-size:23px}.g{gap:26px 0}th,td{padding-right:9px}th.num{white-space:normal}th.num small{display:block}}
@media (prefers-reduced-motion:reduce){*{animation:none!important;transition:none!important}}
@media print{:root,:root:not([data-theme=light]),:root[data-theme=dark]{color-scheme:light;${declarations({ ...light, page: '#fff' })}}body{font-size:10pt}nav.toc,button,input,.script{display:none!important}.wrap{max-width:none;padding:0}figure,.panel,table,.kpis{break-inside:avoid}details.all table{break-inside:auto}h2,h3{break-after:avoid}details:not([open]){display:none}a{color:inherit;text-decoration:none}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}.g{grid-template-columns:1fr 1fr;gap:18px 22px}.g>*{grid-column:auto!important}.g>.s7,.g>.s8,.g>.s12{grid-column:1/-1!important}}`;

/** The style sheet of every report: both themes, print, phone. */
export const style: string = themes + text + parts + columns + forms + states;
