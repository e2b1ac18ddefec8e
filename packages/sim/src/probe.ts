/** The methods of a probe interface: all return nothing. */
type ProbeMethods<P> = { [K in keyof P]-?: P[K] extends (...args: never[]) => void ? K : never }[keyof P];

/**
 * One probe that passes every event on to several, in their order. A layer holds `probe: P | null` and tests it before
 * each event, so nothing is paid when nobody listens and no detour when one does.
 *
 * `methods` lists the methods of the interface, because an interface leaves nothing behind at run time.
 * Returns null for no probes and the probe itself for one.
 */
export function fanOut<P extends object>(methods: readonly ProbeMethods<P>[], probes: readonly P[]): P | null {
  if (probes.length === 0) return null;
  if (probes.length === 1) return probes[0];
  const listeners = [...probes];
  const combined: Record<PropertyKey, (...args: unknown[]) => void> = {};
  for (const method of methods) {
    combined[method] = (...args) => {
      for (const listener of listeners) (listener[method] as (...args: unknown[]) => void)(...args);
    };
  }
  return combined as P;
}
