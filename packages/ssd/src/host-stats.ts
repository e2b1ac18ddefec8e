import type { StatsRegistry } from '@flashstack/sim';
import type { FirmwareConfig } from './config.js';
import { Line } from './host-timelines.js';

/**
 * Registers `link.…` and `firmware.…`: shares of the time `elapsedNs()` in which link and cores were busy, `busyNs` of it by
 * `Line`. The host-interface core and the collection core count if the drive has them.
 */
export function registerHostStats(
  registry: StatsRegistry,
  firmware: FirmwareConfig,
  busyNs: (line: number) => number,
  elapsedNs: () => number,
): void {
  const share = (ns: number, of: number): number => (of === 0 ? 0 : ns / of);
  const line = (at: number): number => share(busyNs(at), elapsedNs());
  const cores = (): number[] => Array.from({ length: firmware.cores }, (_, core) => busyNs(Line.firstCore + core));
  registry.gauge('link.read.busyFraction', () => line(Line.toHost));
  registry.gauge('link.write.busyFraction', () => line(Line.toDevice));
  registry.gauge('firmware.busyFraction', () => {
    const sum = cores().reduce((total, ns) => total + ns, 0);
    return share(sum, elapsedNs() * firmware.cores);
  });
  registry.gauge('firmware.busyFraction.max', () => share(Math.max(...cores()), elapsedNs()));
  if (firmware.hostCore === true) registry.gauge('firmware.hostCore.busyFraction', () => line(Line.hostCore));
  if (firmware.gcCore === true) registry.gauge('firmware.gcCore.busyFraction', () => line(Line.gcCore));
}
