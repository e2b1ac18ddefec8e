import { InputError, type Parameter, type ParameterValues } from '@flashstack/sim';
import type { MappingKind, MappingScheme } from '../mapping.js';
import { Bast } from './bast.js';
import { BlockMap } from './block-map.js';
import { Fast } from './fast.js';
import { HybridFtl } from './hybrid-ftl.js';
import { Last } from './last.js';
import { Sast } from './sast.js';
import { checkSchedule, parseSchedule } from './sast-schedule.js';
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

/** A block or hybrid mapping scheme: what `spec.make` decides, on the base that all of them share. */
export function hybridScheme(spec: HybridSpec): MappingScheme {
  return { name: spec.name, uses, attach: (parts) => new HybridFtl(parts, spec) };
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
      hybridScheme({
        name: 'block',
        logBlocks: values.replacementBlocks as number,
        leastLogBlocks: 1,
        idleMerge: values.idleMerge as boolean,
        sequentialBytes: 0,
        ownedByBlocks: true,
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
      hybridScheme({
        ...common(values),
        name: 'bast',
        leastLogBlocks: 1,
        sequentialBytes: 0,
        ownedByBlocks: true,
        make: (parts) => new Bast(parts, values.victim === 'switch-first'),
      }),
  },
  {
    name: 'sast',
    summary: 'Hybrid mapping in which groups of logical blocks share log blocks (SAST; KAST with a cap).',
    uses,
    parameters: [
      logBlocks,
      {
        name: 'dataBlocks',
        type: 'integer',
        default: 4,
        min: 1,
        max: 2 ** 31 - 1,
        unit: 'blocks',
        help: 'Consecutive logical blocks of a domain that form a group.',
      },
      {
        name: 'logBlocksPerGroup',
        type: 'integer',
        default: 2,
        min: 1,
        max: 65_536,
        unit: 'blocks',
        help: 'Log blocks that a group may own.',
      },
      {
        name: 'cap',
        type: 'integer',
        default: 0,
        min: 0,
        max: 65_536,
        help: 'Logical blocks that may have slots in one log block (KAST); 0: any number.',
      },
      {
        name: 'schedule',
        type: 'string',
        default: '',
        help:
          'Other groups later: "100000 8:2, 300000 1:1" are 8 data and 2 log blocks a group once the host has written ' +
          '100000 slots, preconditioning included, and 1 and 1 after 300000.',
      },
      idleMerge,
    ],
    create: (values) => {
      const shape = {
        dataBlocks: values.dataBlocks as number,
        logBlocksPerGroup: values.logBlocksPerGroup as number,
      };
      const cap = values.cap as number;
      if (cap > shape.dataBlocks) {
        throw new InputError(
          'ERR_FTL_OPTION',
          `ftl.mapping.parameters.cap: found ${cap}, expected at most dataBlocks (${shape.dataBlocks}): only blocks of one ` +
            'group share a log block. 0 sets no limit',
          'ftl.mapping.parameters.cap',
        );
      }
      const schedule = parseSchedule(values.schedule as string, cap);
      const later = Math.max(0, ...schedule.map((change) => change.shape.logBlocksPerGroup));
      return hybridScheme({
        ...common(values),
        name: 'sast',
        leastLogBlocks: Math.max(shape.logBlocksPerGroup, later),
        ...(later > shape.logBlocksPerGroup ? { leastFrom: 'schedule' } : {}),
        sequentialBytes: 0,
        ownedByBlocks: false,
        make: (parts) => {
          checkSchedule(schedule, parts.layout.logicalBlocks);
          return new Sast(parts, shape, cap, schedule);
        },
      });
    },
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
      hybridScheme({
        ...common(values),
        name: 'fast',
        leastLogBlocks: 2,
        sequentialBytes: 0,
        ownedByBlocks: true,
        make: (parts) => new Fast(parts, values.lazySwitch as boolean),
      }),
  },
  {
    name: 'last',
    summary: 'Hybrid mapping with sequential, hot and cold log blocks, told apart by locality (LAST).',
    uses,
    parameters: [
      logBlocks,
      {
        name: 'seqThreshold',
        type: 'integer',
        default: 16_384,
        min: 1,
        max: 2 ** 40,
        unit: 'bytes',
        help: 'A request of so many bytes is sequential, as is one that follows the request before.',
      },
      {
        name: 'sequentialBlocks',
        type: 'integer',
        default: 0,
        min: 0,
        max: 65_536,
        unit: 'blocks',
        help: 'Log blocks of a domain for sequential requests to begin with; 0: a quarter.',
      },
      {
        name: 'hotWindow',
        type: 'integer',
        default: 0,
        min: 0,
        max: 2 ** 24,
        unit: 'slots',
        help: 'A slot is hot if it is among so many random writes of its domain; 0: the slots of the hot log blocks.',
      },
      {
        name: 'deadWait',
        type: 'integer',
        default: 2,
        min: 0,
        max: 65_536,
        help: 'Reclaims that the oldest hot log block is spared, in case its last valid slots die.',
      },
      {
        name: 'hi',
        type: 'number',
        default: 0.5,
        min: 0,
        max: 1,
        help: 'The hot log blocks become one more when a larger share of them was dead as they were reclaimed.',
      },
      {
        name: 'lo',
        type: 'number',
        default: 0.1,
        min: 0,
        max: 1,
        help: 'They become one less when a smaller share was.',
      },
      idleMerge,
    ],
    create: (values) =>
      hybridScheme({
        ...common(values),
        name: 'last',
        leastLogBlocks: 3,
        sequentialBytes: values.seqThreshold as number,
        ownedByBlocks: true,
        make: (parts) =>
          new Last(parts, {
            sequentialBlocks: values.sequentialBlocks as number,
            hotWindow: values.hotWindow as number,
            deadWait: values.deadWait as number,
            hi: values.hi as number,
            lo: values.lo as number,
          }),
      }),
  },
];
