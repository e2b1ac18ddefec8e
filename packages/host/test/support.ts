import { Simulator, type Task } from '@flashstack/sim';
import { type FsError, MemFs, type MemFsOptions, SimplePageCache, type Thread } from '@flashstack/vfs';
import { expect } from 'vitest';
import { Host, type HostOptions } from '../src/index.js';

/** A host on a mounted file system in memory. */
export function memoryHost(options: HostOptions = {}, fs: MemFsOptions = {}): Host {
  const simulator = new Simulator();
  const cache = new SimplePageCache(simulator);
  const host = new Host({ simulator, cache, fileSystem: (environment) => new MemFs(environment, fs) }, options);
  host.run(host.mount(), 'mount');
  return host;
}

/** What a call or task ends with. */
type Outcome<R> = R extends Task<infer T> ? T : R;

/** Calls of one thread, each run to its end: for tests of what calls do, not of how they interleave. */
export type Calls = {
  [K in keyof Thread]: Thread[K] extends (...args: infer A) => infer R ? (...args: A) => Outcome<R> : Thread[K];
};

/** The calls of a thread as plain functions. */
export function callsOf(host: Host, thread: Thread): Calls {
  return new Proxy(thread, {
    get(target, name) {
      const found = Reflect.get(target, name);
      if (typeof found !== 'function') return found;
      return (...args: unknown[]) => {
        function* body(): Task<unknown> {
          const done = found.apply(target, args);
          return typeof done === 'object' && done !== null && 'next' in done ? yield* done : done;
        }
        return host.run(body(), String(name));
      };
    },
  }) as unknown as Calls;
}

/** Expects a POSIX error. */
export function expectError(code: string, action: () => unknown): void {
  try {
    action();
  } catch (error) {
    expect((error as FsError).code, String(error)).toBe(code);
    return;
  }
  expect.fail(`expected ${code}, found no error`);
}
