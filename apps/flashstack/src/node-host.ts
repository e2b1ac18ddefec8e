import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { HostError, reasonOf } from '@flashstack/experiment/node';
import type { Host, Output } from './terminal.js';

/** The machine that this process runs on. */
export function nodeHost(): Host {
  return {
    env: process.env,
    stdout: output(1, process.stdout.isTTY === true),
    stderr: output(2, process.stderr.isTTY === true),
    nowMs: () => performance.now(),
    epochSec: () => Math.floor(Date.now() / 1000),
    randomBytes: (count) => randomBytes(count),
    cpuSeconds: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
    maxRssBytes: () => process.resourceUsage().maxRSS * 1024,
    onInterrupt: (callback) => {
      process.on('SIGINT', callback);
      process.on('SIGTERM', callback);
      return () => {
        process.off('SIGINT', callback);
        process.off('SIGTERM', callback);
      };
    },
  };
}

/**
 * Writes at once and in order, so that nothing is lost when the process ends. A reader of stdout that goes away ends it
 * quietly; what stderr cannot take is nobody's to hear, and the run goes on.
 */
function output(file: number, isTerminal: boolean): Output {
  const writeBytes = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length; ) at += writeSome(file, bytes.subarray(at));
  };
  return { isTerminal, writeBytes, write: (text) => writeBytes(new TextEncoder().encode(text)) };
}

function writeSome(file: number, bytes: Uint8Array): number {
  try {
    return writeSync(file, bytes);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // A full pipe whose reader is slow: try again.
    if (code === 'EAGAIN') return 0;
    if (file === 2) return bytes.length;
    if (code === 'EPIPE') process.exit(0);
    throw new HostError(`stdout: ${reasonOf(error, bytes.length)}.`);
  }
}
