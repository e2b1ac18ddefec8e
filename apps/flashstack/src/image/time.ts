import { UsageError } from '../report-error.js';
import type { Session } from '../session.js';

/** The present as an image gets it: `--time`, `SOURCE_DATE_EPOCH`, or the clock; seconds since 1970. @throws UsageError */
export function imageTime(flag: string | undefined, { host }: Session): number {
  const [name, text] = flag === undefined ? ['SOURCE_DATE_EPOCH', host.env.SOURCE_DATE_EPOCH] : ['--time', flag];
  if (text === undefined || text === '') return host.epochSec();
  const sec = Number(text);
  if (/^\d+$/.test(text) && sec < 2 ** 33) return sec;
  throw new UsageError(`${name} is "${text}", expected whole seconds since 1970, such as 1700000000.`);
}
