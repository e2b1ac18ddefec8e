import { BaseImage, CrashDevice } from '@flashstack/block-device/crash';
import { InputError } from '@flashstack/sim';
import type { FsCapabilities } from '@flashstack/vfs';
import type { CrashSubject } from '../subject.js';
import { BASE_STATES } from '../workload/base-states.js';
import { BaseVolume, Machine } from './machine.js';

/**
 * What a file system offers, after it was made on a device of its size and has taken the files that workloads begin with.
 * @throws InputError `ERR_CRASH_SUBJECT` if it keeps nothing on its device, or cannot be made, filled or unmounted.
 */
export function prepareSubject(subject: CrashSubject): FsCapabilities {
  const { name, scheme, blocks } = subject;
  if (!scheme.onDevice) {
    const message = `${name} keeps nothing on its device: there is nothing that a power cut could leave.`;
    throw new InputError('ERR_CRASH_SUBJECT', message, 'fs');
  }
  try {
    const { capabilities } = new Machine(subject, new CrashDevice(BaseImage.blank(blocks))).host.fileSystem;
    const base = Object.keys(BASE_STATES).at(capabilities.attributeBytes > 0 ? -1 : 1) as string;
    new BaseVolume(subject, base, 0);
    return capabilities;
  } catch (error) {
    // Whatever the file system throws, without any power cut.
    const why = `${(error as Error).name}: ${(error as Error).message}`;
    const message = `${name} cannot be made and filled on ${blocks} blocks of 4 KiB: ${why}.`;
    throw new InputError('ERR_CRASH_SUBJECT', message, 'fs', { cause: error });
  }
}
