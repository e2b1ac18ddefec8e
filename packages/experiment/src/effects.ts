import { InputError } from '@flashstack/sim';
import type { SsdConfig } from '@flashstack/ssd';

/** Options that mean something only in company. */
interface Condition {
  /** The option, or the section of options. */
  readonly path: string;
  holds(config: SsdConfig): boolean;
  readonly why: string;
  readonly what: string;
}

const event = ({ scheduler }: SsdConfig): boolean => scheduler.kind === 'event';

const conditions: readonly Condition[] = [
  {
    path: 'nand.reliability.ecc.refreshAtRetries',
    holds: ({ idleNs }) => idleNs > 0,
    why: 'pages and blocks are written again in idle time only, and idleNs 0 offers none',
    what: 'Set idleNs, such as 1ms.',
  },
  {
    path: 'nand.reliability.ecc.readReclaimLimit',
    holds: ({ idleNs }) => idleNs > 0,
    why: 'pages and blocks are written again in idle time only, and idleNs 0 offers none',
    what: 'Set idleNs, such as 1ms.',
  },
  {
    path: 'scheduler.policy',
    holds: event,
    why: 'only the event scheduler has queues in which one operation can go before another',
    what: 'Set scheduler.kind: event.',
  },
  {
    path: 'scheduler.bus',
    holds: event,
    why: 'only the event scheduler can wait for the bus when a transfer is ready',
    what: 'Set scheduler.kind: event.',
  },
  {
    path: 'scheduler.vssim',
    holds: ({ scheduler }) => scheduler.kind === 'vssim',
    why: 'these are the delays of the scheduler vssim',
    what: 'Set scheduler.kind: vssim.',
  },
  {
    path: 'nand.features.suspend',
    holds: (config) =>
      config.nand.features.suspend === 'none' || (event(config) && (config.scheduler.policy ?? 'fifo') !== 'fifo'),
    why: 'nothing is suspended unless reads may go before what is in progress',
    what: 'Set scheduler.kind: event, with a policy other than fifo.',
  },
  ...['highWatermark', 'lowWatermark'].map((key) => ({
    path: `buffer.${key}`,
    holds: ({ buffer }: SsdConfig) => buffer === null || buffer.drain === 'watermark',
    why: 'only a buffer that is drained between watermarks has them',
    what: 'Set buffer.drain: watermark.',
  })),
];

/** @throws InputError `ERR_OPTION_VALUE` if an option is asked for (not just there in the preset) that the drive does not look at. */
export function checkEffects(config: SsdConfig, overrides: Readonly<Record<string, unknown>>): void {
  for (const { path, holds, why, what } of conditions) {
    const asked = Object.keys(overrides).find((key) => key === path || key.startsWith(`${path}.`));
    if (asked === undefined || overrides[asked] === undefined || holds(config)) continue;
    throw new InputError('ERR_OPTION_VALUE', `${asked} has no effect: ${why}. ${what}`, asked);
  }
}
