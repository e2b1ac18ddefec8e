import { requestKinds } from '@flashstack/workloads';

/** Metrics by name. */
export type Metrics = Readonly<Record<string, number>>;

/** Kinds of requests, as metrics name them. */
export const KINDS: readonly string[] = requestKinds;

/** `the host link`, but `flash programs`. */
export function withArticle(resource: string): string {
  return resource.startsWith('flash') && resource !== 'flash channels' ? resource : `the ${resource}`;
}

/** A share as per cent, as sentences of an analysis write it. */
export function percent(share: number): string {
  const value = share * 100;
  if (value > 0 && value < 0.05) return 'less than 0.1 %';
  return `${value >= 9.95 || value === 0 ? Math.round(value) : value.toFixed(1)} %`;
}
