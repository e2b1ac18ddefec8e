import type { ExperimentResult } from '@flashstack/experiment';
import type { InputError } from '@flashstack/sim';
import { parseHTML } from 'linkedom/worker';
import { beforeAll, describe, expect, test } from 'vitest';
import { renderReport } from '../src/index.js';
import { script } from '../src/page/script.js';
import { copyOf, run, withVictim } from './runs.js';

let result: ExperimentResult;
let page: string;

beforeAll(async () => {
  result = await run();
  page = renderReport([result]);
});

const svgs = (html: string): string[] => html.match(/<svg.*?<\/svg>/gs) ?? [];

describe('a run report', () => {
  test('is one file of moderate size, the same bytes for the same result', () => {
    expect(page).toBe(renderReport([copyOf(result) as ExperimentResult]));
    expect(Buffer.byteLength(page)).toBeLessThan(400_000);
    expect(page.startsWith('<!doctype html>')).toBe(true);
  });

  test('names the victim policy, also one with parameters', async () => {
    expect(page).toContain('greedy GC');
    const victim = { name: 'd-choices', parameters: { d: 4 } };
    const other = renderReport([await withVictim(victim)]);
    expect(other).toContain('d-choices GC');
    expect(other).not.toContain('[object');
  });

  test('names no address and loads nothing', () => {
    expect(page.match(/https?:|\bsrc=|url\((?!#hatch\))|@import|<iframe|<object|fetch\(|XMLHttpRequest/g)).toBeNull();
    expect(page.match(/href="(?!#|data:,")/)).toBeNull();
    expect(page).toContain('default-src &#39;none&#39;');
  });

  test('has every figure of a run, each with a label and drawn for wide and narrow pages', () => {
    const ids = [...page.matchAll(/<figure class="s\d+" id="([\w-]+)"/g)].map((match) => match[1]);
    expect(ids).toEqual([
      'throughput',
      'latency-over-time',
      'write-amplification',
      'free-blocks',
      'percentiles',
      'phases',
      'bounds',
      'waterfall',
      'write-flow',
      'die-activity',
      'channels',
      'victims',
      'wear',
    ]);
    for (const figure of page.match(/<figure.*?<\/figure>/gs) ?? []) {
      expect(figure).toMatch(/role="img" aria-label="[^"]{10,}"/);
      expect(figure).toContain('class="slim"');
    }
  });

  test('figures name tokens, not colours', () => {
    const drawings = svgs(page);
    expect(drawings.length).toBeGreaterThan(20);
    const literal = /#[0-9a-f]{3,8}\b|rgba?\(|hsl|oklab|="(?:white|black|red|steelblue|currentColor)"/i;
    for (const drawing of drawings) expect(drawing.replaceAll('url(#hatch)', '').match(literal)).toBeNull();
    expect(page.match(/style="[^"]*#[0-9a-f]{3}/i)).toBeNull();
  });

  test('no number a reader sees is NaN, infinite, undefined or in exponent form', () => {
    const text = page.replace(/<style>.*?<\/style>|<script>.*?<\/script>/gs, '');
    expect(text).not.toMatch(/NaN|Infinity|undefined|\[object|>−?-0</);
    expect(text.replace(/<[^>]*>/g, ' ')).not.toMatch(/\d\.\d+e[+-]?\d/);
  });

  test('has all metrics, the spec and how to read numbers', () => {
    for (const name of Object.keys(result.metrics)) expect(page).toContain(`<code>${name}</code>`);
    expect(page).toContain('victim: greedy');
    expect(page).toContain(result.specHash.slice(0, 16));
    expect(page).toContain('Sizes are binary');
  });

  test('its script is small', () => {
    expect(script.length).toBeLessThan(2048);
  });

  test('shows the command if it is told', () => {
    expect(renderReport([result], { command: 'flashstack run a.yaml' })).toContain(
      '<pre tabindex="0">flashstack run a.yaml</pre>',
    );
  });
});

describe('what users give is only ever text', () => {
  const hostile = `"><img src=x onerror=alert(1)></title></svg><script>alert('2')</script>{{x}}\${y}'&amp;`;

  test.each(['one result', 'two results'])('%s', (how) => {
    const copy = copyOf(result);
    copy.spec.device.name = hostile;
    copy.spec.workload = {
      kind: 'given',
      name: hostile,
      requests: 1,
      digest: hostile,
      reading: { [hostile]: hostile },
    };
    copy.versions[hostile] = hostile;
    copy.specHash = hostile;
    copy.analysis.headline = hostile;
    copy.analysis.gcSentence = hostile;
    copy.analysis.bounds[0].resource = hostile as never;
    copy.metrics[hostile] = 1;
    copy.heatmaps['nand.busy'].rows[0] = hostile;
    const second = copyOf(copy as ExperimentResult);
    second.spec.device.name = `${hostile} 2`;
    const given = (how === 'one result' ? [copy] : [copy, second]) as ExperimentResult[];
    const html = renderReport(given, { title: hostile, command: hostile });
    // As a browser would read it: no element, attribute or script that this package did not write.
    const { document } = parseHTML(html);
    expect(document.querySelectorAll('img, iframe, object, foreignObject')).toHaveLength(0);
    expect(document.querySelectorAll('script')).toHaveLength(1);
    expect(document.querySelectorAll('title')).toHaveLength(1);
    const attributes = [...document.querySelectorAll('*')].flatMap((element) => [...element.attributes]);
    expect(attributes.filter(({ name }) => /^on|^[^a-z]/i.test(name))).toEqual([]);
    expect(document.querySelector('h1')?.textContent).toBe(hostile);
    expect(html).not.toContain('<img');
  });
});

describe('states', () => {
  test('an older result without heat maps and distributions says so in their places', () => {
    const old = copyOf(result) as Partial<ReturnType<typeof copyOf>>;
    delete old.heatmaps;
    delete old.distributions;
    delete old.warmup;
    const html = renderReport([old as ExperimentResult]);
    expect(html).toMatch(
      /id="die-activity".*?<p class="call">Dies were .*? their activity over time was not recorded/s,
    );
    expect(html).toMatch(/id="victims".*?was not recorded/s);
    expect(html).toMatch(/id="wear".*?erases; their number per block was not recorded/s);
  });

  test('a run that only reads has no write amplification, and nothing pretends it has', async () => {
    const html = renderReport([
      await run({ workload: { kind: 'random', parameters: { requests: 3000, readShare: 1 } } }),
    ]);
    expect(html).toMatch(/id="write-amplification".*?The drive programmed nothing/s);
    expect(html).toMatch(/id="waterfall".*?Nothing was programmed/s);
    expect(html).toContain('no writes');
    expect(html).toContain('Read throughput');
  });

  test('without garbage collection the report says how far from it the drive stayed', async () => {
    const html = renderReport([
      await run({ precondition: 'none', workload: { kind: 'sequential', parameters: { requests: 2000 } } }),
    ]);
    expect(html).toContain('Why GC did not run');
    expect(html).toMatch(/id="victims".*?No garbage collection ran/s);
    expect(html).toContain('GC did not run');
  });

  test('an interrupted run is marked, and its charts go on to the planned end', async () => {
    const partial = await run({}, 4);
    expect(partial.partial).not.toBeNull();
    const html = renderReport([partial]);
    expect(html).toContain('◐ Partial.');
    expect(html).toContain('◐ partial');
    expect(html).toMatch(/id="throughput".*?interrupted/s);
  });

  test('too few requests for a percentile give a dash with the number', async () => {
    const html = renderReport([await run({ workload: { kind: 'random', parameters: { requests: 300 } } })]);
    expect(html).toContain('only 300 writes');
  });

  test('failed requests are said in the tag', () => {
    const failed = copyOf(result);
    failed.metrics['host.failed'] = 3;
    expect(renderReport([failed as ExperimentResult])).toContain('✗ requests failed');
  });

  test('an empty run is still a report', async () => {
    const empty = copyOf(result);
    for (const name of Object.keys(empty.metrics)) empty.metrics[name] = 0;
    for (const name of Object.keys(empty.series)) {
      empty.series[name] = { intervalNs: 1_000_000, count: [], sum: [], min: [], max: [] };
    }
    for (const name of Object.keys(empty.histograms)) {
      empty.histograms[name] = { count: 0, sumHigh: 0, sumLow: 0, min: 0, max: 0, buckets: [] };
    }
    empty.analysis.programs = [];
    empty.analysis.bounds = [];
    empty.heatmaps = {};
    empty.distributions = {};
    const html = renderReport([empty as ExperimentResult]);
    expect(html).not.toMatch(/NaN|Infinity/);
    expect(html).toContain('No request was made');
  });

  test('a warm-up is told, and marked in the charts', async () => {
    const html = renderReport([await run({ warmup: { requests: 3000 } })]);
    expect(html).toMatch(/warm-up of .*? left out/);
    expect(html).toContain('the end of the warm-up');
  });
});

test('what cannot be reported is refused', () => {
  const code = (call: () => unknown): string => {
    try {
      call();
    } catch (error) {
      return (error as InputError).code;
    }
    return 'nothing was thrown';
  };
  expect(code(() => renderReport([]))).toBe('ERR_REPORT_EMPTY');
  expect(code(() => renderReport([result], { baseline: 1 }))).toBe('ERR_REPORT_BASELINE');
  expect(code(() => renderReport([result], { baseline: 0.5 }))).toBe('ERR_REPORT_BASELINE');
});
