import { fileURLToPath } from 'node:url';
import { writeWhole } from '@flashstack/experiment/node';
import { CancelledError, recorded, reproduce, type Study, studies } from '@flashstack/paper-reproductions';
import type { Claim, Reproduction, Strip } from '@flashstack/report';
import { unknownName } from '@flashstack/sim';
import { openTrace } from '@flashstack/workloads/node';
import { STRIP_CELLS, stripLegend, stripText } from './claim-strip.js';
import { ExitCode } from './exit-code.js';
import { Interrupt, InterruptedError } from './interrupt.js';
import { parseWhole } from './option-flags.js';
import { UsageError } from './report-error.js';
import type { Session } from './session.js';
import { type Style, table, width, wrap } from './terminal.js';

const LIMIT = 80;
const NAME = 30;

/** Options of `reproduce`, as typed. */
export interface ReproduceFlags {
  readonly list?: boolean;
  readonly all?: boolean;
  readonly seeds?: string;
  readonly out: string;
  readonly json?: boolean;
}

/**
 * `flashstack reproduce ID…`: runs published experiments; prints published, simulated, band and verdict, and writes a
 * page and the values. Returns the exit code: 1 if a value outside its band is no declared miss.
 */
export async function runReproduce(
  traces: URL,
  ids: readonly string[],
  flags: ReproduceFlags,
  session: Session,
): Promise<number> {
  if (flags.list === true) {
    session.print(
      flags.json === true ? `${JSON.stringify(studies.map(listed), null, 1)}\n` : renderList(session.style),
    );
    return ExitCode.done;
  }
  const chosen = choose(ids, flags);
  if (flags.out === '') throw new UsageError('--out is "", expected the name of a folder.');
  const seeds = flags.seeds === undefined ? undefined : parseWhole('--seeds', flags.seeds, 1, 1000);
  const interrupt = new Interrupt(session.host);
  const found: Reproduction[] = [];
  try {
    for (const study of chosen) found.push(await runStudy(study, traces, seeds, session, interrupt));
  } catch (error) {
    if (!(error instanceof CancelledError)) throw error;
    // What is whole is shown; half a study says nothing.
    if (found.length === 0) throw new InterruptedError();
  } finally {
    interrupt.release();
  }
  const files = await writeFiles(found, flags.out);
  const { stripOf } = await import('@flashstack/report');
  if (flags.json === true) session.print(`${JSON.stringify(found, null, 1)}\n`);
  else session.print(`${render(found, stripOf, files, interrupt.requested, session.style).join('\n')}\n`);
  if (interrupt.requested) return ExitCode.interrupted;
  const missed = found.some(({ claims }) => claims.some(({ verdict }) => verdict === 'miss'));
  return missed ? ExitCode.no : ExitCode.done;
}

function choose(ids: readonly string[], { all }: ReproduceFlags): readonly Study[] {
  const names = studies.map(({ id }) => id);
  if (all === true) {
    if (ids.length > 0) throw new UsageError('--all takes no names beside it.');
    return studies;
  }
  if (ids.length === 0)
    throw new UsageError('reproduce needs the name of an experiment.', ['See: flashstack reproduce --list']);
  const twice = ids.find((text, at) => ids.findIndex((other) => other.toUpperCase() === text.toUpperCase()) !== at);
  if (twice !== undefined) throw new UsageError(`the experiment ${twice} is given twice.`, ['Give it once.']);
  return ids.map((text) => {
    const study = studies.find(({ id }) => id === text.toUpperCase());
    if (study === undefined) throw unknownName('experiment', text, names);
    return study;
  });
}

async function runStudy(
  study: Study,
  traces: URL,
  seeds: number | undefined,
  session: Session,
  interrupt: Interrupt,
): Promise<Reproduction> {
  const { progress, host } = session;
  progress.start(study.id);
  const before = host.cpuSeconds();
  const result = await reproduce(study, {
    ...(seeds === undefined ? {} : { seeds: Array.from({ length: seeds }, (_, i) => i + 1) }),
    versions: { flashstack: session.version },
    openTrace: async (name) => (await openTrace(fileURLToPath(new URL(name, traces)))).trace,
    progress: (runs, name) => progress.announce(`run ${runs + 1}: ${name}`),
    cancelled: () => interrupt.requested,
  });
  progress.clear();
  session.note('cpu', `${study.id}: ${session.errorStyle.numbers.duration(host.cpuSeconds() - before)}`);
  return result;
}

/** A page of all, and for each its values and figures. Returns what they are and where. */
async function writeFiles(found: readonly Reproduction[], folder: string): Promise<[string, string][]> {
  const { renderReproductions, reproductionFigures } = await import('@flashstack/report');
  const base = folder.replace(/(?<=.)\/+$/, '');
  for (const reproduction of found) {
    writeWhole(`${base}/${reproduction.id}.json`, `${JSON.stringify(reproduction, null, 1)}\n`);
    for (const { name, svg } of reproductionFigures(reproduction)) {
      writeWhole(`${base}/${reproduction.id}-${name}.svg`, svg);
    }
  }
  const page = found.length === 1 ? `${base}/${found[0].id}.html` : `${base}/reproductions.html`;
  writeWhole(page, renderReproductions(found));
  return [['report', page]];
}

/** Where everything of a claim lies. */
type Places = (claim: Claim, tightness: Reproduction['tightness']) => Strip;

function render(
  found: readonly Reproduction[],
  places: Places,
  files: [string, string][],
  partial: boolean,
  style: Style,
): string[] {
  const lines: string[] = [];
  for (const reproduction of found) lines.push(...renderOne(reproduction, places, style), '');
  const verdicts = found.flatMap(({ claims }) => claims.map(({ verdict }) => verdict));
  const of = (verdict: Claim['verdict']): number => verdicts.filter((other) => other === verdict).length;
  const counts = [
    `${of('pass')} pass`,
    style.numbers.counted(of('miss'), 'miss').replace('misss', 'misses'),
    `${of('expectedMiss')} expected`,
    `${of('shown')} without a band`,
  ];
  lines.push(`${counts.join(', ')}.`, style.tone('dim', stripLegend(style)));
  if (partial) lines.push(`${style.tone('attention', style.attention)} interrupted: what followed was not run`);
  for (const [what, path] of files) lines.push(`${style.tone('dim', what.padEnd(8))} ${style.tone('path', path)}`);
  return lines;
}

function renderOne(reproduction: Reproduction, places: Places, style: Style): string[] {
  const { id, title, paper, scale, seeds, claims, tightness } = reproduction;
  const head = ['', 'published', 'simulated', 'band', 'verdict'].map((text) => style.tone('dim', text));
  const parts = claims.map((claim) => claimRows(claim, style));
  const [first, ...lines] = table([head, ...parts.flat()], 'lrrrl');
  const strips = parts.flatMap((rows, i) => {
    const strip = stripText(places(claims[i], tightness), claims[i].verdict, style);
    return besides(lines.splice(0, rows.length), strip, width(first) - width(head[4]) - 2);
  });
  const reasons = claims.flatMap(({ name, reason, verdict }) =>
    reason === undefined
      ? []
      : wrap(`${mark(verdict, style)} ${name}: ${reason}`, LIMIT - 2).map((line, i) => (i === 0 ? line : `  ${line}`)),
  );
  return [
    `${style.tone('strong', id)}  ${title}`,
    ...wrap(`${paper} · scale: ${scale} · ${style.numbers.counted(seeds.length, 'seed')}`, LIMIT).map((line) =>
      style.tone('dim', line),
    ),
    '',
    first,
    ...strips,
    ...(reasons.length === 0 ? [] : ['', ...reasons]),
  ];
}

/** The lines of a claim with its strip below the numbers, up to the column `end`. */
function besides([row, second = '', ...others]: readonly string[], strip: string, end: number): string[] {
  if (strip === '') return [row, ...(second === '' ? [] : [second]), ...others];
  return [row, `${second}${' '.repeat(end - STRIP_CELLS - width(second))}${strip}`, ...others];
}

/** A claim as one row, and more for a long name. */
function claimRows(claim: Claim, style: Style): string[][] {
  const [first, ...others] = wrap(claim.name, NAME);
  const published = typeof claim.published === 'number' ? valued(claim.published, claim, style) : claim.published;
  const row = [first, published, valued(claim.simulated.mean, claim, style), band(claim, style), verdict(claim, style)];
  return [row, ...others.map((line) => [line])];
}

/** Changes carry their sign, as on the page: per cent of which the paper gives one, or some value is below zero. */
function valued(value: number, { unit, published, band: limits, simulated }: Claim, style: Style): string {
  const below = [typeof published === 'number' ? published : 0, limits?.low ?? 0, limits?.high ?? 0, simulated.low];
  const isChange = unit === '%' && (below.some((other) => other < 0) || /^[+−-]/.test(String(published)));
  const text = isChange && value > 0 ? `+${style.numbers.short(value)}` : style.numbers.short(value);
  return unit === '' ? text : `${text} ${unit}`;
}

function band({ band: limits }: Claim, { numbers }: Style): string {
  if (limits === null) return '–';
  const { low, high } = limits;
  if (low === null) return high === null ? '–' : `≤ ${numbers.short(high)}`;
  if (high === null) return `≥ ${numbers.short(low)}`;
  return low === high ? numbers.short(low) : `${numbers.short(low)} … ${numbers.short(high)}`;
}

function mark(verdict: Claim['verdict'], style: Style): string {
  if (verdict === 'pass') return style.tone('good', '✓');
  return verdict === 'miss' ? style.tone('bad', '✗') : style.tone('attention', '◐');
}

function verdict({ verdict: found }: Claim, style: Style): string {
  if (found === 'pass') return style.tone('good', style.ascii ? 'ok' : '✓ pass');
  if (found === 'miss') return style.tone('bad', style.ascii ? 'MISS' : '✗ miss');
  if (found === 'expectedMiss') return style.tone('attention', style.ascii ? '(exp) miss' : '◐ expected');
  return '–';
}

/** The state of a study as it was recorded with this version. */
function stateOf(id: string): Claim['verdict'] {
  const { miss = 0, expectedMiss = 0 } = recorded[id]?.verdicts ?? {};
  if (miss > 0) return 'miss';
  return expectedMiss > 0 ? 'expectedMiss' : 'pass';
}

function listed({ id, title, paper, tightness, scale, seeds, cpuSeconds }: Study): Readonly<Record<string, unknown>> {
  return { id, title, paper, tightness, scale, seeds, cpuSeconds, state: stateOf(id) };
}

function renderList(style: Style): string {
  const badge: Readonly<Record<string, string>> = {
    pass: style.tone('good', style.ascii ? 'ok' : '✓ pass'),
    miss: style.tone('bad', style.ascii ? 'MISS' : '✗ miss'),
    expectedMiss: style.tone('attention', style.ascii ? '(exp)' : '◐ expected'),
  };
  const rows = studies.map(({ id, title, paper, cpuSeconds }) => [
    style.tone('strong', id),
    paper.replace(/ \(.*\)$/, ''),
    title,
    badge[stateOf(id)],
    style.numbers.duration(cpuSeconds).replace(/\.0+(?= s)/, ''),
  ]);
  const lines = table(
    [['id', 'paper', 'what', 'state', 'time'].map((text) => style.tone('dim', text)), ...rows],
    'llllr',
    1,
  );
  const longest = Math.max(...lines.map(width));
  if (longest > LIMIT) throw new RangeError(`the list is ${longest} columns wide`);
  return `${lines.join('\n')}\n`;
}
