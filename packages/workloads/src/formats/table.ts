import { alibabaFormat } from './alibaba.js';
import { blkparseFormat } from './blkparse.js';
import { blktraceFormat } from './blktrace.js';
import { disksimFormat } from './disksim.js';
import { fioIologFormat } from './fio-iolog.js';
import { fiuFormat } from './fiu.js';
import type { TraceFormat } from './format.js';
import { hfplayerFormat } from './hfplayer.js';
import { mqsimFormat } from './mqsim.js';
import { msrFormat } from './msr.js';
import { spcFormat } from './spc.js';
import { systor17Format } from './systor17.js';
import { tencentFormat } from './tencent.js';
import { vscsiFormat } from './vscsi.js';

/** The trace formats, by name. Pass a longer table to add your own. */
export const traceFormats: readonly TraceFormat[] = [
  msrFormat,
  systor17Format,
  alibabaFormat,
  tencentFormat,
  spcFormat,
  disksimFormat,
  mqsimFormat,
  fioIologFormat,
  blkparseFormat,
  blktraceFormat,
  fiuFormat,
  vscsiFormat,
  hfplayerFormat,
];
