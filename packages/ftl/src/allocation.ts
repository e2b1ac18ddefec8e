import type { Geometry } from '@flashstack/nand-device';
import { InputError } from '@flashstack/sim';
import type { DomainKind } from './block-table.js';

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

/** @throws InputError `ERR_FTL_OPTION` if the dies cannot be divided into so many groups. */
export function checkGroups(geometry: Geometry, kind: DomainKind, groups: number): void {
  if (groups === 1 || (kind !== 'superblock' && geometry.dies % groups === 0)) return;
  throw new InputError(
    'ERR_FTL_OPTION',
    kind === 'superblock'
      ? `ftl.domain: found "superblock", expected "die" or "unit", because ${groups} groups of dies divide the device`
      : `ftl.streams: ${groups} groups of dies, expected a number that divides the ${geometry.dies} dies of the device`,
    kind === 'superblock' ? 'ftl.domain' : 'ftl.streams',
  );
}

/** Domains in allocation order, by groups of dies with consecutive numbers; if there are several groups, all domains at last. */
export function groupsOfDomains(geometry: Geometry, kind: DomainKind, order: string, groups: number): Int32Array[] {
  const all =
    kind === 'superblock'
      ? Int32Array.of(0)
      : kind === 'die'
        ? diesInOrder(geometry, order)
        : unitsInOrder(geometry, order);
  if (groups === 1) return [all];
  const perGroup = (all.length / groups) | 0;
  // Domains are numbered die by die.
  const inGroup = (group: number): Int32Array => all.filter((domain) => Math.floor(domain / perGroup) === group);
  return [...Array.from({ length: groups }, (_, group) => inGroup(group)), all];
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
