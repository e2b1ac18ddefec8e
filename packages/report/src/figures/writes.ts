import type { Analysis } from '@flashstack/experiment';
import { type Figure, missingFigure, type Table } from '../figure.js';
import { bytes, count, megabytesPerSecond, percent, short, significant } from '../numbers.js';
import { causeSwatches, type Swatch } from '../tokens.js';
import type { RunView } from '../view.js';
import { type Row, rowsDrawing, type Segment } from './rows.js';

/** A row of the waterfall: what one cause added, or a sum so far (`from` 0). */
export interface WaterfallStep {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly sum: boolean;
}

/** Slots by cause, each beginning where the one before ended; sums after the host's and after all. */
export function waterfall(view: RunView): WaterfallStep[] {
  const steps: WaterfallStep[] = [];
  let total = 0;
  for (const { name, value } of view.programs) {
    steps.push({ name, from: total, to: total + value, sum: false });
    total += value;
    if (name === 'host') steps.push({ name: 'written to flash', from: 0, to: total, sum: true });
  }
  steps.push({ name: 'programmed', from: 0, to: total, sum: true });
  return steps;
}

/** Where flash programs come from. */
export function waterfallFigure(view: RunView): Figure {
  const steps = waterfall(view);
  const total = steps[steps.length - 1].to;
  const title = 'Where the flash writes come from';
  if (total === 0) return missingFigure('waterfall', 7, title, 'Nothing was programmed.');
  const { slotBytes } = view.result.spec.device.nand.geometry;
  const host = view.programs.find((part) => part.name === 'host')?.value ?? 0;
  const rows = steps.map((step): Row => {
    const { label, token, hatched } = causeSwatch(step.name);
    const size = bytes((step.to - step.from) * slotBytes);
    if (step.sum) {
      const remark =
        step.name !== 'programmed'
          ? 'from the write buffer'
          : host === 0
            ? 'no host data'
            : `× ${significant(total / host)}`;
      const name = step.name === 'programmed' ? 'flash programmed' : 'flash received';
      return { name, value: size, segments: [], strong: true, remark: remark, end: step.to };
    }
    const segments: Segment[] = [{ from: step.from, to: step.to, token, hatched }];
    return { name: label, value: step.to > step.from ? `+${size}` : 'none', segments };
  });
  return {
    id: 'waterfall',
    title: host === 0 ? title : `One byte written to flash costs ${significant(total / host)} bytes of programs`,
    caption: `By cause; each bar starts where the one above ends. ${hostSentence(view, host * slotBytes)}`,
    span: 7,
    content: rowsDrawing(rows, { rowHeight: 29, barHeight: 17, names: [148, 132], values: 82, most: total }),
    table: causeTable(view, total),
  };
}

/** What the host wrote, and what became of it before it reached flash. */
function hostSentence(view: RunView, flashBytes: number): string {
  const host = view.metric('host.write.bytes', 0);
  const { slotBytes } = view.result.spec.device.nand.geometry;
  const overwritten = view.metric('ssd.bufferOverwrites', 0) * slotBytes;
  if (host === 0) return 'The host wrote nothing.';
  const start = `The host wrote ${bytes(host)}`;
  if (overwritten === 0) return `${start}; ${bytes(flashBytes)} of it left the write buffer for flash.`;
  return `${start}; ${bytes(overwritten)} was overwritten in the write buffer, ${bytes(flashBytes)} left it for flash.`;
}

function causeSwatch(name: string): Swatch {
  return causeSwatches[name] ?? { token: 'skip', label: name, hatched: false };
}

function causeTable(view: RunView, total: number): Table {
  return {
    head: ['cause', 'slots', 'share'],
    rows: [
      ...view.programs.map(({ name, value }) => [causeSwatch(name).label, count(value), percent(value / total)]),
      ['all', count(total), percent(1)],
    ],
    numeric: [1, 2],
  };
}

/** Bounds beyond so many times what was measured run off the axis. */
const BEYOND = 4;

/** How near the run came to what each resource allows. Without transfers, as with flushes alone, in requests. */
export function boundsFigure(view: RunView): Figure {
  const analysis: Partial<Analysis> = view.result.analysis;
  const told = (analysis.bounds ?? []).filter((bound) => bound.share > 0);
  const inBytes = view.bytesPerSecond() > 0;
  const measured = inBytes ? view.bytesPerSecond() : (analysis.measured?.requestsPerSecond ?? 0);
  if (measured === 0 || told.length === 0) {
    return missingFigure('bounds', 5, 'Which limit did the run meet?', 'Nothing was done, so no limit was met.');
  }
  const text = inBytes ? megabytesPerSecond : short;
  const unit = inBytes ? 'MB/s' : 'requests/s';
  const most = Math.min(BEYOND * measured, Math.max(...told.map((bound) => measured / bound.share)) * 1.02);
  const rows = told.map(({ resource, share }, i): Row => {
    const bound = measured / share;
    return {
      name: resource,
      value: `${text(bound)}${bound > most ? ' ›' : ''}`,
      segments: [{ from: 0, to: Math.min(bound, most), token: i === 0 ? 'gc' : 'h3' }],
      strong: i === 0,
      remark: `met to ${percent(share)}`,
    };
  });
  const [first] = told;
  return {
    id: 'bounds',
    title:
      first.share >= 0.85
        ? `${capital(first.resource)} set the pace: ${percent(first.share)} of the bound was reached`
        : `No limit was met: ${first.resource} came nearest, at ${percent(first.share)}`,
    caption: `What the host would get, in ${unit}, if a resource never rested, for the work that this run gave it; lowest first. The line is what was measured: ${text(measured)} ${unit}.`,
    span: 5,
    content: rowsDrawing(rows, {
      rowHeight: 34,
      barHeight: 16,
      names: [124, 126],
      values: 64,
      most,
      mark: Math.min(measured, most),
    }),
    table: {
      head: ['resource', `bound, ${unit}`, 'reached', 'busiest part'],
      rows: told.map(({ resource, share, worst = Number.NaN }) => [
        resource,
        text(measured / share),
        percent(share),
        percent(worst),
      ]),
      numeric: [1, 2, 3],
    },
  };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
