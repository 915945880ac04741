import type { Json } from '../protocol/json.ts';
import type { Answer } from './sender.ts';

// Members of messages, whatever their shape, and their texts in the results of checks.

export function at(value: unknown, ...path: readonly (string | number)[]): Json | undefined {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Record<string | number, unknown>)[step];
  }
  return current as Json | undefined;
}

export function listAt(value: unknown, ...path: readonly (string | number)[]): Json[] {
  const list = at(value, ...path);
  return Array.isArray(list) ? list : [];
}

export function idsIn(items: readonly Json[]): unknown[] {
  return items.map((item) => at(item, 'id'));
}

export function describe({ action, status, body }: Answer): string {
  return `${action.method} ${action.path} was answered with ${status} ${show(body)}`;
}

const shownCharacters = 300;

export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)} …` : text;
}
