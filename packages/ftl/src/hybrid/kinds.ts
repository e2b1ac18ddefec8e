import type { Parameter, ParameterValues } from '@flashstack/sim';
import type { MappingKind, MappingScheme } from '../mapping.js';
import { Bast } from './bast.js';
import { BlockMap } from './block-map.js';
import { Fast } from './fast.js';
import { HybridFtl } from './hybrid-ftl.js';
import type { HybridLayout } from './layout.js';
import type { HybridSpec } from './scheme.js';

const uses = ['domain', 'multiPlane', 'order', 'freeOrder', 'gcFreeOrder'] as const;

const logBlocks: Parameter = {
  name: 'logBlocks',
  type: 'integer',
  default: 0,
  min: 0,
  max: 65_536,
  unit: 'blocks',
  help: 'Log blocks of a domain; 0: three quarters of its spare blocks.',
};

const idleMerge: Parameter = {
  name: 'idleMerge',
  type: 'boolean',
  default: false,
  help: 'Merge in idle time, so that a write finds a log block.',
};

const oneEach = (layout: HybridLayout): number => layout.logicalBlocks * layout.domains;

function scheme(spec: HybridSpec): MappingScheme {
  return { attach: (parts) => new HybridFtl(parts, spec) };
}

/** What the parameters that all schemes have say. */
function common(values: ParameterValues): Pick<HybridSpec, 'logBlocks' | 'idleMerge'> {
  return { logBlocks: values.logBlocks as number, idleMerge: values.idleMerge as boolean };
}

/** Block mapping and the hybrid schemes (specification sections 11 to 15). */
export const hybridKinds: readonly MappingKind[] = [
  {
    name: 'block',
    summary: 'Block mapping: each slot at its place in the block; an overwrite copies the block.',
    uses,
    parameters: [
      {
        name: 'replacementBlocks',
        type: 'integer',
        default: 1,
        min: 1,
        max: 65_536,
        unit: 'blocks',
        help: 'Blocks of a domain that can be replaced at a time: streams that overwrite in order.',
      },
      idleMerge,
    ],
    create: (values) =>
      scheme({
        name: 'block',
        logBlocks: values.replacementBlocks as number,
        leastLogBlocks: 1,
        idleMerge: values.idleMerge as boolean,
        sequentialBytes: 0,
        ownedByBlocks: true,
        owners: oneEach,
        make: (parts) => new BlockMap(parts),
      }),
  },
  {
    name: 'bast',
    summary: 'Hybrid mapping with a log block per logical block (BAST).',
    uses,
    parameters: [
      logBlocks,
      {
        name: 'victim',
        type: 'enum',
        default: 'lru',
        values: ['lru', 'switch-first'],
        help: 'Log block that makes room: the one written longest ago, or before it one that needs no copies.',
      },
      idleMerge,
    ],
    create: (values) =>
      scheme({
        ...common(values),
        name: 'bast',
        leastLogBlocks: 1,
        sequentialBytes: 0,
        ownedByBlocks: true,
        owners: oneEach,
        make: (parts) => new Bast(parts, values.victim === 'switch-first'),
      }),
  },
  {
    name: 'fast',
    summary: 'Hybrid mapping with one sequential log block, and random ones for all logical blocks (FAST).',
    uses,
    parameters: [
      logBlocks,
      {
        name: 'lazySwitch',
        type: 'boolean',
        default: false,
        help: 'Merge a full sequential log block when the next one begins, not at once.',
      },
      idleMerge,
    ],
    create: (values) =>
      scheme({
        ...common(values),
        name: 'fast',
        leastLogBlocks: 2,
        sequentialBytes: 0,
        ownedByBlocks: true,
        owners: oneEach,
        make: (parts) => new Fast(parts, values.lazySwitch as boolean),
      }),
  },
];
