import { Host } from '@flashstack/host';
import { Simulator } from '@flashstack/sim';
import { MemFs, SimplePageCache } from '@flashstack/vfs';

/** A host on a mounted file system in memory. */
export function memoryHost(): Host {
  const simulator = new Simulator();
  const cache = new SimplePageCache(simulator);
  const host = new Host({ simulator, cache, fileSystem: (environment) => new MemFs(environment) });
  host.run(host.mount(), 'mount');
  return host;
}
