import { type Style, table } from './terminal.js';

/** Every metric that does not differ from run to run; CPU time and memory are on stderr. */
export function metricsTable(metrics: Readonly<Record<string, number>>, style: Style): string {
  const { numbers } = style;
  const names = Object.keys(metrics).filter((name) => !name.startsWith('run.'));
  const rows = names.map((name) => {
    const value = metrics[name];
    return [`  ${name}`, Number.isInteger(value) ? numbers.count(value) : numbers.short(value)];
  });
  return `\n${table(rows, 'lr').join('\n')}\n`;
}
