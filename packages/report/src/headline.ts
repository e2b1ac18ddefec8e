import { html, type Markup } from './markup.js';
import { count, megabytesPerSecond, percent, significant } from './numbers.js';
import type { RunView } from './view.js';
import { meanBetween, ratePerSecond } from './windows.js';

/**
 * What happened, in a few sentences: the cause that the analysis of the result names, then what it meant for throughput
 * and for the flash.
 */
export function headline(view: RunView): Markup {
  const { headline: cause } = view.result.analysis;
  return html`${emphasised(withGroups(cause))} ${throughput(view)} ${amplification(view)}`;
}

/** The share that decided is set in bold. */
function emphasised(sentence: string): Markup {
  const found = /^(.*?)(\d[\d.]*\s?%)(.*)$/s.exec(sentence);
  return found === null ? html`${sentence}` : html`${found[1]}<b>${found[2].replace(/\s/, '\u00a0')}</b>${found[3]}`;
}

function throughput(view: RunView): string {
  const kind = view.kinds.includes('write') ? 'write' : view.kinds.includes('read') ? 'read' : null;
  const series = kind === null ? null : view.series(`host.${kind}.bytes`);
  if (kind === null || series === null) return '';
  const name = kind === 'write' ? 'Write' : 'Read';
  const gc = view.gcStartNs;
  const end = view.spanNs;
  if (gc !== null && gc > end * 0.05 && gc < end * 0.95) {
    const windows = ratePerSecond(series, end);
    const before = meanBetween(windows, 0, gc);
    const after = meanBetween(windows, gc, end);
    if (Math.abs(after / before - 1) > 0.05) {
      return `${name} throughput goes from ${megabytesPerSecond(before)} to ${megabytesPerSecond(after)}\u00a0MB/s once garbage collection has begun.`;
    }
  }
  return `${name} throughput was ${megabytesPerSecond(view.metric(`host.${kind}.bytesPerSecond`))}\u00a0MB/s.`;
}

function amplification(view: RunView): string {
  const waf = view.writeAmplification;
  if (!Number.isFinite(waf)) return '';
  const moved = view.programs.find((part) => part.name === 'gc')?.value ?? 0;
  const total = view.programs.reduce((sum, part) => sum + part.value, 0);
  const share = moved === 0 ? '' : `; ${percent(moved / total)} of all programs were copies of garbage collection`;
  return `Every byte written to flash cost ${significant(waf)} bytes of programs${share}.`;
}

/** A sentence of the result, its long numbers as reports write them. */
export function withGroups(sentence: string): string {
  return sentence.replace(/\d{4,}/g, (digits) => count(Number(digits)));
}
