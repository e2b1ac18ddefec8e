import type { Claim, Reproduction } from '@flashstack/report';

/** The page of `docs/validation` that shows what the studies found. */
export function reproductionPage(reproductions: readonly Reproduction[]): string {
  const lines = [
    '# Published experiments',
    '',
    'What papers say, the band in which a value may lie, and what the simulation says. `flashstack reproduce ID` runs one',
    'and draws its figures. Class T: exact or within 2 %. B: within the band given. D: direction and order only. own: nobody',
    'has published it. Bands of class D are ours; a value outside its band is a miss. Made by the test that runs every study.',
    '',
    '| id | paper | what | class | scale | pass | miss | declared miss |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
  ];
  const count = ({ claims }: Reproduction, verdict: Claim['verdict']): number =>
    claims.filter((claim) => claim.verdict === verdict).length;
  for (const found of reproductions) {
    const { id, paper, title, tightness, scale } = found;
    const counts = [count(found, 'pass'), count(found, 'miss'), count(found, 'expectedMiss')];
    lines.push(
      `| [${id}](#${id.toLowerCase()}) | ${paper} | ${title} | ${tightness} | ${scale} | ${counts.join(' | ')} |`,
    );
  }
  for (const found of reproductions) lines.push('', ...sectionOf(found));
  return `${lines.join('\n')}\n`;
}

function sectionOf({ id, title, seeds, claims, tables, notes }: Reproduction): string[] {
  const lines = [`## ${id}`, '', `${title}; ${seeds.length} ${seeds.length === 1 ? 'run' : 'seeds'}.`, ''];
  lines.push('| | published | simulated | band | verdict |', '| --- | --- | --- | --- | --- |');
  for (const claim of claims) {
    const { name, unit, published, simulated, band, verdict, reason } = claim;
    const text = (value: number): string => `${short(value)}${unit === '' ? '' : ` ${unit}`}`;
    const range = seeds.length > 1 ? ` (${short(simulated.low)} … ${short(simulated.high)})` : '';
    const limits =
      band === null
        ? '–'
        : `${band.low === null ? '' : short(band.low)} … ${band.high === null ? '' : short(band.high)}`;
    const why = reason === undefined ? '' : `: ${reason}`;
    const word = { pass: 'pass', miss: '**miss**', expectedMiss: 'declared miss', shown: '–' }[verdict];
    lines.push(
      `| ${name} | ${typeof published === 'number' ? text(published) : published} | ${text(simulated.mean)}${range} | ${limits} | ${word}${why} |`,
    );
  }
  for (const { title: caption, head, rows } of tables) {
    lines.push('', `${caption}:`, '', `| ${head.join(' | ')} |`, `| ${head.map(() => '---').join(' | ')} |`);
    for (const row of rows)
      lines.push(`| ${row.map((cell) => (typeof cell === 'number' ? short(cell) : cell)).join(' | ')} |`);
  }
  for (const note of notes) lines.push('', note);
  return lines;
}

function short(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return Math.abs(value) >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
