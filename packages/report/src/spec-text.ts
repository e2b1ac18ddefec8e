import { specLeaves } from '@flashstack/experiment';

/** Strings that need no quotes, and words that would not be strings without them. */
const PLAIN = /^[A-Za-z][\w ./-]*$/;
const WORD = /^(true|false|null|yes|no|on|off|y|n)$/i;

/** A value as YAML would write it; objects whose values are all plain stand on one line where they are short. */
export function specText(value: unknown, indent = ''): string {
  if (!isRecord(value)) return `${indent}${scalar(value)}\n`;
  let text = '';
  for (const [key, inner] of Object.entries(value)) {
    const flat = flatText(inner);
    if (flat !== null && indent.length + key.length + flat.length < 92) text += `${indent}${plainKey(key)}: ${flat}\n`;
    else if (isRecord(inner)) text += `${indent}${plainKey(key)}:\n${specText(inner, `${indent}  `)}`;
    else text += `${indent}${plainKey(key)}: ${scalar(inner)}\n`;
  }
  return text;
}

/** Every leaf of a spec by its path, as YAML would write it. */
export function leaves(value: unknown): Map<string, string> {
  return new Map([...specLeaves(value)].map(([path, leaf]) => [path, scalar(leaf)]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function flatText(value: unknown): string | null {
  if (!isRecord(value)) return scalar(value);
  const entries = Object.entries(value);
  if (entries.some(([, inner]) => isRecord(inner))) return null;
  return `{ ${entries.map(([key, inner]) => `${plainKey(key)}: ${scalar(inner)}`).join(', ')} }`;
}

function plainKey(key: string): string {
  return /^[\w.-]+$/.test(key) ? key : JSON.stringify(key);
}

function scalar(value: unknown): string {
  if (typeof value === 'string') return PLAIN.test(value) && !WORD.test(value) ? value : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(scalar).join(', ')}]`;
  if (isRecord(value)) return flatText(value) ?? JSON.stringify(value);
  return String(value);
}
