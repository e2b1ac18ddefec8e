import { describe, expect, test } from 'vitest';
import { type CrashExploration, renderCrashes } from '../src/index.js';

const sound: CrashExploration = {
  name: 'mini<journal>',
  configuration: { model: 'volatile', seq: '2', seed: '1' },
  planned: 2_013_448,
  stopped: null,
  counts: { workloads: 2_013_448, tried: 9_000_001, recovered: 7_123_457, second: 12, third: 0, judged: 5, lost: 0 },
  unique: { images: 611_902, states: 48_113 },
  byRule: {},
  titles: { R5: 'fsync of a directory keeps its entries', R6: 'rename is atomic' },
  byOperation: { rename: { workloads: 4, lost: 0 } },
  failures: [],
  versions: { flashstack: '1.2.3' },
};

const lossy: CrashExploration = {
  ...sound,
  configuration: { ...sound.configuration, model: 'torn' },
  counts: { ...sound.counts, lost: 21 },
  byRule: { R5: 20, R6: 1 },
  byOperation: { rename: { workloads: 4, lost: 1 }, sync: { workloads: 2, lost: 2 } },
  failures: [
    {
      rule: 'R6',
      path: 'A/<b>',
      text: 'the target is absent',
      number: 41,
      operations: 4,
      steps: ['rename A/foo bar; fsync bar'],
      timeline: [
        '    1 rename A/foo bar begins',
        '    2   #0 flush, then write block 5 durably (journal)',
        '    4 rename A/foo bar is acknowledged',
        '    4 power cut: kept nothing; lost block 5 of #0',
        'R6: A/<b>: the target is absent',
      ],
      difference: ['- bar: file of 0 bytes', '! foo: size 1 became 2'],
    },
  ],
};

describe('a page of power cuts', () => {
  test('counts to the last unit, in one file', () => {
    const page = renderCrashes([sound]);
    for (const text of ['2\u202f013\u202f448', '7\u202f123\u202f457', '611\u202f902', '48\u202f113'])
      expect(page).toContain(text);
    expect(page).toContain('<b>Nothing is lost</b>');
    expect(page).toContain('mini&lt;journal&gt;');
    expect(page).not.toMatch(/https?:|<journal>/);
    expect(renderCrashes([sound])).toBe(page);
  });

  test('the worst rule comes first; a failure is told with what happens and what is left', () => {
    const page = renderCrashes([lossy]);
    expect(page).toContain('<b>21 of 7\u202f123\u202f457 images</b>');
    expect(page).toContain('most of them R5 (fsync of a directory keeps its entries)');
    expect(page.indexOf('<td>R5</td>')).toBeLessThan(page.indexOf('<td>R6</td>'));
    expect(page.indexOf('<code>sync</code>')).toBeLessThan(page.indexOf('<code>rename</code>'));
    expect(page).toContain('width:25.00%');
    expect(page).toContain('Found in workload 42 of 4 operations');
    expect(page).toContain('<li class="req" style="--dot:var(--journal)"><b>2</b>');
    expect(page).toMatch(/<li class="op done"><b>4<\/b>.*?<li class="cut"><b>4<\/b>/s);
    expect(page).toContain('<li class="minus">− bar: file of 0 bytes</li>');
    expect(page).toContain('A/&lt;b&gt;');
  });

  test('several are compared by what differs between them', () => {
    const page = renderCrashes([sound, { ...lossy, stopped: 'interrupted' }]);
    expect(page).toContain('<th scope="col">model</th>');
    expect(page).not.toContain('<th scope="col">seq</th>');
    expect(page).toContain('Not all that was planned was explored.');
    expect(page).toContain('Workloads are left: interrupted.');
    expect(page).toContain('href="#found2"');
  });

  test('nothing is refused', () => {
    expect(() => renderCrashes([])).toThrow(expect.objectContaining({ code: 'ERR_REPORT_EMPTY' }));
  });
});
