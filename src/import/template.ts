// Templates of a mapping: text with cells of a row.
//
//   {name}        the cell of that column
//   {name|slug}   the same, as the end of an id: lower case, words joined by hyphens
//   [ … ]         a part that disappears if a cell in it is empty
//   \             before { [ ] \ : the literal character
//
// A template is filled only if every cell outside of brackets has a value.

export interface Template {
  parts: readonly Part[];
  columns: readonly string[];
}

type Part = string | { column: string; filter?: 'slug' } | { optional: readonly Part[] };

/** Throws an Error with a sentence for the author of the template. */
export function parseTemplate(text: string): Template {
  const columns = new Set<string>();
  const stack: Part[][] = [[]];
  const push = (part: Part) => void stack.at(-1)?.push(part);
  for (const [token] of text.matchAll(/\\[\s\S]|\{[^}]*\}?|\[|\]|[^\\{[\]]+|\\/g)) {
    if (token === '[') stack.push([]);
    else if (token === ']') {
      const optional = stack.pop() ?? [];
      if (stack.length === 0) throw new Error(`"${text}" closes a bracket that is not open`);
      push({ optional });
    } else if (token.startsWith('{')) push(parsePlaceholder(token, text, columns));
    else push(token.replace(/^\\(?=.)/s, ''));
  }
  if (stack.length > 1) throw new Error(`"${text}" leaves a bracket open`);
  return { parts: stack[0] ?? [], columns: [...columns] };
}

/** The text with its cells, or undefined if a required cell is empty. */
export function fillTemplate({ parts }: Template, cellOf: (column: string) => string): string | undefined {
  const filled = fillParts(parts, cellOf)?.trim();
  return filled === '' ? undefined : filled;
}

function parsePlaceholder(token: string, text: string, columns: Set<string>): Part {
  const [, name = '', filter] = /^\{(.+?)(?:\|([a-z]+))?\}$/s.exec(token) ?? [];
  if (name === '') throw new Error(`"${text}" has a brace without a column in it: ${token}`);
  if (filter !== undefined && filter !== 'slug')
    throw new Error(`"${text}" names an unknown filter "${filter}"`);
  columns.add(name);
  return { column: name, filter };
}

function fillParts(parts: readonly Part[], cellOf: (column: string) => string): string | undefined {
  let filled = '';
  for (const part of parts) {
    if (typeof part === 'string') filled += part;
    else if ('optional' in part) filled += fillParts(part.optional, cellOf) ?? '';
    else {
      const cell = cellOf(part.column);
      const text = part.filter === 'slug' ? slugOf(cell) : cell;
      if (text === '') return undefined;
      filled += text;
    }
  }
  return filled;
}

/** `Stadtwerke Köln (AöR)` becomes `stadtwerke-koln-aor`; keeps letters of every script, without European accents. */
export function slugOf(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
}
