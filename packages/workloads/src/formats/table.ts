import type { TraceFormat } from './format.js';
import { mqsimFormat } from './mqsim.js';
import { msrFormat } from './msr.js';

/** The trace formats that can be read, by name. Pass a longer table to add your own. */
export const traceFormats: readonly TraceFormat[] = [msrFormat, mqsimFormat];
