import { InputError } from '@flashstack/sim';
import { slug } from './names.js';
import type { Claim, Reproduction, ReproductionFigure } from './types.js';

const SCHEMA = 'flashstack.reproduction/1';

/**
 * Refuses what a page would show wrongly: another schema, two of one name, series that do not fit their axis, a verdict
 * that the band contradicts.
 * @throws InputError `ERR_REPORT_EMPTY`, `ERR_REPORT_TWICE`, `ERR_REPORT_SCHEMA`, `ERR_REPORT_CLAIM`, `ERR_REPORT_FIGURE`.
 */
export function checkReproductions(reproductions: readonly Reproduction[]): void {
  if (reproductions.length === 0) {
    const message = 'a page of reproductions needs at least one, found none';
    throw new InputError('ERR_REPORT_EMPTY', message, 'reproductions');
  }
  once(
    reproductions.map((reproduction) => reproduction.id),
    'reproductions',
  );
  for (const reproduction of reproductions) checkReproduction(reproduction);
}

/** The same for one. @throws InputError as {@link checkReproductions}. */
export function checkReproduction(reproduction: Reproduction): void {
  const { id, schema, claims, figures } = reproduction;
  if (schema !== SCHEMA) {
    const message = `${id}: schema: found ${JSON.stringify(schema)}, expected "${SCHEMA}"; it was made by another version`;
    throw new InputError('ERR_REPORT_SCHEMA', message, 'schema');
  }
  once(
    figures.map((figure) => figure.id),
    `${id}.figures`,
  );
  for (const claim of claims) checkClaim(id, claim);
  for (const figure of figures) checkFigure(id, figure);
}

/** Names become anchors and files, in which case and punctuation are lost. */
function once(ids: readonly string[], key: string): void {
  const slugs = ids.map(slug);
  for (const [at, name] of slugs.entries()) {
    const first = slugs.indexOf(name);
    if (first === at) continue;
    const found = ids[first] === ids[at] ? `${ids[at]} is there twice` : `${ids[first]} and ${ids[at]} are one name`;
    throw new InputError('ERR_REPORT_TWICE', `${key}: ${found} (as ${name}); give each its own id`, key);
  }
}

function checkClaim(id: string, claim: Claim): void {
  const { band, simulated, verdict } = claim;
  const refused = (found: string, expected: string): InputError =>
    new InputError('ERR_REPORT_CLAIM', `${id}: claim "${claim.name}": ${found}; expected ${expected}`, claim.name);
  const { mean, low, high } = simulated;
  // A mean of equal values may be off by their rounding.
  const slack = Math.abs(mean) * 1e-9;
  const known = Number.isFinite(mean);
  if (known && !(low <= mean + slack && high >= mean - slack)) {
    throw refused(`the mean ${mean} is not from ${low} to ${high}`, 'low ≤ mean ≤ high');
  }
  if (!known && verdict === 'pass') throw refused(`it passes with ${mean}`, 'miss, where there is no value');
  if (band === null) return;
  if (band.low === null && band.high === null) {
    throw refused('its band is open on both sides', 'an edge at least, or null for no band');
  }
  if (band.low !== null && band.high !== null && !(band.low <= band.high)) {
    throw refused(`its band goes from ${band.low} to ${band.high}`, 'low ≤ high');
  }
  const inside = known && (band.low === null || mean >= band.low) && (band.high === null || mean <= band.high);
  if (verdict === 'pass' && !inside)
    throw refused(`it passes with ${mean} outside of its band`, 'miss or expectedMiss');
  if (verdict === 'miss' && inside) throw refused(`it misses with ${mean} inside of its band`, 'pass');
}

function checkFigure(id: string, figure: ReproductionFigure): void {
  const { x, y, series } = figure;
  const refused = (found: string, expected: string): InputError =>
    new InputError('ERR_REPORT_FIGURE', `${id}: figure ${figure.id}: ${found}; expected ${expected}`, figure.id);
  if (x.log === true && !x.values.every((value) => typeof value === 'number' && value > 0)) {
    throw refused('a logarithmic x axis with names, zero or less', 'numbers above 0, or no log');
  }
  for (const { name, values, low, high } of series) {
    for (const [what, list] of [
      ['values', values],
      ['low', low],
      ['high', high],
    ] as const) {
      if (list === undefined) continue;
      if (list.length !== x.values.length) {
        throw refused(`${what} of series "${name}" has ${list.length} entries`, `${x.values.length}, one per x`);
      }
      if (y.log === true && list.some((value) => value !== null && value <= 0)) {
        throw refused(
          `a logarithmic y axis with ${what} of series "${name}" at zero or less`,
          'NaN for a gap, or no log',
        );
      }
    }
    if ((low === undefined) !== (high === undefined)) {
      throw refused(`series "${name}" has one of low and high`, 'both or none');
    }
  }
}
