// `pnpm bench [NAME…]`: CPU time of the hot paths. Each bench file of a package runs in a process of its own; each row
// is warmed up and timed five times; the median is printed, with its ratio to the roofline row of the same file if
// there is one. Figures are CPU time, so other load on the machine hardly matters; compare ratios across machines.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../', import.meta.url));
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const out = `${root}out/bench/`;
mkdirSync(out, { recursive: true });

const files = readdirSync(`${root}packages`).flatMap((name) => {
  const folder = `${root}packages/${name}/bench`;
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.bench.ts'))
    .map((file) => ({ name: file.replace('.bench.ts', ''), package: name, path: `${folder}/${file}` }));
});
const chosen =
  wanted.length === 0
    ? files
    : files.filter((file) => wanted.some((word) => file.package.includes(word) || file.name.includes(word)));
if (chosen.length === 0) {
  process.stderr.write(
    `error: no bench file matches ${wanted.join(', ')}; there are ${files.map((f) => f.name).join(', ')}\n`,
  );
  process.exit(2);
}

// The part that runs in the child: imports the bench file and times its rows.
const driver = (path) => `
import { benchmarks } from ${JSON.stringify(path)};
const rows = [];
for (const bench of benchmarks) {
  bench.setup?.();
  const times = [];
  const passes = bench.passes ?? 5;
  for (let warm = 0; warm < (bench.warmups ?? 2); warm++) bench.run(bench.n);
  for (let pass = 0; pass < passes; pass++) {
    const before = process.cpuUsage();
    bench.run(bench.n);
    const used = process.cpuUsage(before);
    times.push((used.user + used.system) / 1e6);
  }
  times.sort((a, b) => a - b);
  const seconds = times[times.length >> 1];
  rows.push({
    name: bench.name,
    operations: bench.n,
    cpuSeconds: seconds,
    perSecond: bench.n / seconds,
    nsPerOperation: (seconds * 1e9) / bench.n,
    spread: (times[times.length - 1] - times[0]) / seconds,
    ...(bench.bar === undefined ? {} : { bar: bench.bar }),
    ...(bench.rooflineBar === undefined ? {} : { rooflineBar: bench.rooflineBar }),
    ...(bench.roofline === undefined ? {} : { roofline: bench.roofline }),
    maxRssMiB: process.resourceUsage().maxRSS / 1024,
    note: bench.report?.(bench.n / seconds) ?? {},
  });
  bench.teardown?.();
}
process.stdout.write(JSON.stringify(rows));
`;

const results = [];
for (const file of chosen) {
  const bundle = `${out}${file.package}.${file.name}.mjs`;
  await build({
    stdin: { contents: driver(file.path), resolveDir: root, loader: 'ts' },
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@flashstack/source'],
    logLevel: 'error',
  });
  const child = spawnSync(process.execPath, ['--expose-gc', bundle], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.status !== 0) {
    process.stderr.write(`error: ${file.package}/bench/${file.name} failed\n`);
    process.exit(1);
  }
  const rows = JSON.parse(child.stdout).map((row) => ({ package: file.package, ...row }));
  for (const row of rows) {
    const reference = rows.find((other) => other.name === row.roofline);
    if (reference) row.rooflineShare = row.perSecond / reference.perSecond;
  }
  print(file, rows);
  results.push(...rows);
}

const environment = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', date: new Date().toISOString() };
writeFileSync(`${root}out/bench.json`, `${JSON.stringify({ environment, results }, null, 2)}\n`);
process.stdout.write(`\n${results.length} rows, CPU time, median of five. JSON: out/bench.json\n`);

function print(file, rows) {
  process.stdout.write(`\n${file.package}\n`);
  const width = Math.max(...rows.map((row) => row.name.length), 20);
  for (const row of rows) {
    const rate =
      row.perSecond >= 1e6
        ? `${(row.perSecond / 1e6).toFixed(2)} M/s`
        : row.perSecond >= 1e3
          ? `${(row.perSecond / 1e3).toFixed(1)} k/s`
          : `${row.perSecond.toFixed(2)} /s`;
    const each =
      row.nsPerOperation < 1e6 ? `${row.nsPerOperation.toFixed(1)} ns` : `${(row.nsPerOperation / 1e6).toFixed(1)} ms`;
    const share = row.rooflineShare === undefined ? '' : `  ${(100 * row.rooflineShare).toFixed(0)} % of roofline`;
    const met =
      (row.bar === undefined || row.perSecond >= row.bar) &&
      (row.rooflineBar === undefined || row.rooflineShare >= row.rooflineBar);
    const bar = row.bar === undefined && row.rooflineBar === undefined ? '' : met ? '  ✓ bar' : '  ✗ below its bar';
    process.stdout.write(`  ${row.name.padEnd(width)} ${rate.padStart(11)} ${each.padStart(11)}${share}${bar}\n`);
    const notes = Object.entries(row.note).map(([key, value]) => `${key} ${value}`);
    notes.push(`${row.maxRssMiB.toFixed(0)} MiB at most so far`);
    if (notes.length > 0) process.stdout.write(`    ${notes.join(', ')}\n`);
  }
}
