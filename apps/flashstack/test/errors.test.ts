import { HostError } from '@flashstack/experiment/node';
import { InputError } from '@flashstack/sim';
import { TraceDecoder, TraceError, TraceErrorCode } from '@flashstack/workloads';
import { describe, expect, test } from 'vitest';
import { describeError, exitCodeOf, UsageError } from '../src/report-error.js';
import { Style } from '../src/terminal.js';

const plain = new Style(false, true);

function traceError(text: string, file = 'web_0.csv.gz'): TraceError {
  const decoder = new TraceDecoder(file, { format: 'msr' });
  try {
    decoder.push(new TextEncoder().encode(text));
    decoder.end();
  } catch (error) {
    return error as TraceError;
  }
  throw new Error('no error');
}

test('a trace that this machine does not let be read or written is no mistake of the user', () => {
  expect(exitCodeOf(new TraceError(TraceErrorCode.denied, 'x.csv: the file may not be read'))).toBe(3);
  expect(exitCodeOf(new TraceError(TraceErrorCode.write, 'x.csv: cannot be written'))).toBe(3);
  expect(exitCodeOf(new TraceError(TraceErrorCode.unreadable, 'x.csv: there is no such file'))).toBe(2);
});

describe('errors as one paragraph', () => {
  test('a path that is as long as a line stands beside the word error', () => {
    const path = `/${'folder/'.repeat(10)}trace.csv:`;
    const [first, ...others] = describeError(new UsageError(`${path} no such format`), plain).split('\n');
    expect(first).toBe(`error: ${path}`);
    expect(others[0].trim()).toBe('no such format');
  });

  test('a line of a trace: place, text, caret, columns', () => {
    const good = '128166372003061629,web,0,Read,0,4096,1\n';
    const error = traceError(`${good}128166372003061629,web,0,Read,7014609920,-4096,41286\n`);
    expect(describeError(error, plain)).toBe(
      [
        'error: web_0.csv.gz:2:42: size is negative',
        '   128166372003061629,web,0,Read,7014609920,-4096,41286',
        '                                            ^^^^^',
        '   Columns: time,host,disk,type,offset,size,latency (format msr, as named).',
        '',
      ].join('\n'),
    );
    expect(exitCodeOf(error)).toBe(2);
  });

  test('a long line is cut around the field', () => {
    const error = traceError(`128166372003061629,${'h'.repeat(100)},0,Read,x1,4096,1\n`);
    const lines = describeError(error, plain).split('\n');
    const at = lines[2].indexOf('^');
    expect(lines[1].slice(at, at + 2)).toBe('x1');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  test('colours mark the field and the word error', () => {
    const text = describeError(traceError('1,web,0,Read,0,-1,1\n'), new Style(true, false));
    expect(text).toContain('\u001b[31merror\u001b[0m: web_0');
    expect(text).toContain('\u001b[1m-1\u001b[0m');
  });

  test('input errors wrap at 80 columns and end with what to do', () => {
    const error = new UsageError(`--capacity is "${'9'.repeat(60)}", expected a size above 0.`, ['Write it as 4GiB.']);
    const lines = describeError(error, plain).trimEnd().split('\n');
    expect(lines[0].startsWith('error: --capacity is')).toBe(true);
    expect(lines.at(-1)).toBe('   Write it as 4GiB.');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    expect(describeError(new InputError('ERR_X', 'Unknown preset "x".'), plain)).toBe('error: unknown preset "x".\n');
  });

  test('anything else is a defect and says so, without a stack trace', () => {
    const text = describeError(new TypeError('x is undefined'), plain);
    expect(text).toBe('error: x is undefined\n   This is a defect of flashstack. --debug shows where it happened.\n');
    expect(exitCodeOf(new TypeError('x'))).toBe(3);
    expect(exitCodeOf(new HostError('x'))).toBe(3);
  });
});

test('control characters of a file do not reach the terminal', () => {
  const error = new InputError('ERR_X', 'found "a\u001b[31mb\u0000"\nand more');
  expect(describeError(error, plain)).toBe('error: found "a?[31mb?"\n   and more\n');
});
