import { Delay, type RandomStream, type Simulator, type Task } from '@flashstack/sim';
import type { FileSystem } from '@flashstack/vfs';

const WAITING = new Set([
  'lookup',
  'create',
  'link',
  'unlink',
  'rmdir',
  'rename',
  'readdir',
  'readlink',
  'setAttributes',
  'evict',
  'fsync',
]);

/** The same file system, whose operations wait for a while before and after they do what they do. */
export function slowed(simulator: Simulator, fileSystem: FileSystem, random: RandomStream): FileSystem {
  const delay = new Delay(simulator);
  return new Proxy(fileSystem, {
    get(target, name) {
      const found = Reflect.get(target, name);
      if (typeof found !== 'function') return found;
      if (!WAITING.has(String(name))) return found.bind(target);
      return function* (...args: unknown[]): Task<unknown> {
        yield delay.for(random.below(3000));
        const result = yield* found.apply(target, args) as Task<unknown>;
        yield delay.for(random.below(3000));
        return result;
      };
    },
  });
}
