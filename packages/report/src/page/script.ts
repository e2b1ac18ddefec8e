/**
 * What scripts add to a page that is whole without them: the theme's switch, one time cursor in all figures, and a
 * filter of the table of metrics.
 */
export const script: string = `(()=>{const r=document.documentElement;r.classList.add('scripted');
document.querySelector('[data-switch]').addEventListener('click',()=>{const d=r.dataset.theme?r.dataset.theme==='dark':matchMedia('(prefers-color-scheme:dark)').matches;r.dataset.theme=d?'light':'dark'});
for(const p of document.querySelectorAll('.at')){p.addEventListener('pointermove',e=>{const b=p.getBoundingClientRect(),s=getComputedStyle(p),l=parseFloat(s.getPropertyValue('--l'))/100,w=parseFloat(s.getPropertyValue('--w'))/100,x=((e.clientX-b.left)/b.width-l)/w;r.style.setProperty('--at',x.toFixed(4));r.style.setProperty('--on',x<0||x>1?'0':'.55')});p.addEventListener('pointerleave',()=>r.style.setProperty('--on','0'))}
const f=document.querySelector('[data-filter]');if(f)f.addEventListener('input',()=>{for(const t of document.querySelectorAll('[data-metrics] tbody tr'))t.hidden=!t.textContent.toLowerCase().includes(f.value.toLowerCase())})})()`;
