import type { Segments } from './fault.ts';

// The positions of values in a JSON text, for people who look at that text. The text must be valid JSON without duplicate members.

export interface Position {
  /** Both start at 1; a column counts characters. */
  line: number;
  column: number;
}

/** The positions of these values, in the order of the paths. For a missing value, the position of its parent. */
export function locateValues(text: string, paths: readonly Segments[]): Position[] {
  const root: Wanted = { offset: 0, members: new Map() };
  const wanted = paths.map((path) => path.reduce<Wanted>(descend, root));
  locate(text, root);
  return positionsAt(text, wanted.map(offsetOf));
}

interface Wanted {
  parent?: Wanted;
  offset?: number;
  members: Map<string | number, Wanted>;
}

function descend(parent: Wanted, segment: string | number): Wanted {
  const known = parent.members.get(segment) ?? { parent, members: new Map() };
  parent.members.set(segment, known);
  return known;
}

function offsetOf({ offset, parent }: Wanted): number {
  return offset ?? (parent ? offsetOf(parent) : 0);
}

/** The positions of these offsets, in their order. One pass over the text for all of them: it may be large, and a single line. */
export function positionsAt(text: string, offsets: readonly number[]): Position[] {
  const positions = new Map<number, Position>();
  let [at, line, column] = [0, 1, 1];
  for (const offset of [...new Set(offsets)].sort((a, b) => a - b)) {
    for (; at < offset; at++) {
      if (text[at] === '\n') [line, column] = [line + 1, 1];
      else if (!endsPair(text, at)) column++;
    }
    positions.set(offset, { line, column });
  }
  return offsets.map((offset) => ({ ...(positions.get(offset) ?? { line, column }) }));
}

/** Whether this is the second half of a surrogate pair: both halves are one character. */
function endsPair(text: string, at: number): boolean {
  const isLow = (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  return isLow && at > 0 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}

function locate(text: string, root: Wanted): void {
  /** The arrays and objects around the next token. An object without a key expects a name. */
  const around: { wanted?: Wanted; key?: string | number }[] = [];
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},]|[^\s[\]{},:"]+/g)) {
    const holder = around.at(-1);
    if (token === '}' || token === ']') around.pop();
    else if (holder && token === ',')
      holder.key = typeof holder.key === 'number' ? holder.key + 1 : undefined;
    else if (holder && holder.key === undefined) holder.key = JSON.parse(token) as string;
    else {
      const wanted = holder ? holder.wanted?.members.get(holder.key ?? '') : root;
      if (wanted) wanted.offset = index;
      if (token === '{') around.push({ wanted });
      if (token === '[') around.push({ wanted, key: 0 });
    }
  }
}

export function segmentsOf(path: string): (string | number)[] {
  const steps = path.matchAll(/\.([A-Za-z_]\w*)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]/g);
  return [...steps].map(([, name, index, quoted]) => {
    if (name !== undefined) return name;
    if (index !== undefined) return Number(index);
    return JSON.parse(`"${(quoted ?? '').replaceAll("\\'", "'").replaceAll('"', '\\"')}"`);
  });
}
