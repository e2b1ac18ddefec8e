import type { Geometry } from '@flashstack/nand-device';
import { InputError } from '@flashstack/sim';

/** The letters of an allocation order: channel, way, die, plane. */
export const allocationOrders: readonly string[] = permutations('CWDP');

/** How the domain of a host write is chosen. */
export type AllocationKind = 'static' | 'striped' | 'dynamic';

function permutations(letters: string): string[] {
  if (letters.length === 1) return [letters];
  return [...letters].flatMap((letter) => permutations(letters.replace(letter, '')).map((rest) => letter + rest));
}

/**
 * Parallel units in the order given by a permutation of {C, W, D, P}, read left to right as fastest-varying first
 * (specification section 1): `CWDP` visits the channels first.
 * @throws InputError (`ERR_FTL_ALLOCATION_ORDER`) for anything but a permutation.
 */
export function unitsInOrder(geometry: Geometry, order: string): Int32Array {
  if (!allocationOrders.includes(order)) {
    throw new InputError(
      'ERR_FTL_ALLOCATION_ORDER',
      `ftl.order: found "${order}", expected one of the 24 permutations of the letters C, W, D, P, such as "CWDP"`,
      'ftl.order',
    );
  }
  const { channels, ways, dies, planes } = geometry.config;
  const sizes: Record<string, number> = { C: channels, W: ways, D: dies, P: planes };
  const at: Record<string, number> = { C: 0, W: 0, D: 0, P: 0 };
  const units = new Int32Array(geometry.units);
  for (let i = 0; i < units.length; i++) {
    units[i] = geometry.unit(at.C, at.W, at.D, at.P);
    for (const letter of order) {
      at[letter] = (at[letter] + 1) % sizes[letter];
      if (at[letter] !== 0) break;
    }
  }
  return units;
}

/** The same order over whole dies: each die at the place of the first of its planes. */
export function diesInOrder(geometry: Geometry, order: string): Int32Array {
  const seen = new Uint8Array(geometry.dies);
  const dies = new Int32Array(geometry.dies);
  let count = 0;
  for (const unit of unitsInOrder(geometry, order)) {
    const die = Math.floor(unit / geometry.planes);
    if (seen[die] !== 0) continue;
    seen[die] = 1;
    dies[count++] = die;
  }
  return dies;
}
