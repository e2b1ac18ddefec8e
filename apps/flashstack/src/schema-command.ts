import { describeOption, optionGroups, specSchema } from '@flashstack/experiment';
import { knownNames } from './known-names.js';
import type { Session } from './session.js';
import { type Style, width, wrap } from './terminal.js';

const LIMIT = 80;
const KEY = 20;

/**
 * `flashstack schema [SECTION]`: the JSON Schema of specs for editors; of a section the options in words, unless JSON is
 * asked for.
 */
export function runSchema(section: string | undefined, json: boolean, session: Session): void {
  const schema = specSchema(section ?? '', knownNames);
  if (section === undefined || json) session.print(`${JSON.stringify(schema, null, 2)}\n`);
  else session.print(describeSection(section, session.style));
}

function describeSection(section: string, style: Style): string {
  const groups = optionGroups(knownNames).filter(
    (group) => group.section === section || group.section.startsWith(`${section}.`) || isKey(group.section, section),
  );
  const lines: string[] = [];
  for (const { section: path, title, options } of groups) {
    const shown = [...options].filter(([key]) => key === section || !isKey(path, section));
    if (shown.length === 0) continue;
    if (lines.length > 0) lines.push('');
    lines.push(style.tone('strong', path === '' ? 'at the top of a spec' : path), ...wrap(style.plain(title), LIMIT));
    for (const [key, option] of shown) {
      lines.push(...entry(key, `${option.help} Takes ${describeOption(option)}. Default: ${option.default}.`, style));
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Keys at the top belong to the section of no name. */
function isKey(path: string, section: string): boolean {
  return (
    path === '' &&
    !section.includes('.') &&
    optionGroups(knownNames).some(({ section: own, options }) => own === '' && options.some(([key]) => key === section))
  );
}

function entry(key: string, text: string, style: Style): string[] {
  const indent = ' '.repeat(KEY + 4);
  const lines = wrap(style.plain(text), LIMIT - indent.length).map((line) => indent + line);
  const label = `  ${style.tone('path', key)}`;
  if (width(label) > KEY + 2) return [label, ...lines];
  return [label + lines[0].slice(width(label)), ...lines.slice(1)];
}
