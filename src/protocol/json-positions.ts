import type { Segments } from './fault.ts';

// Where values stand in a JSON text, for a person who looks at that text. The text must be valid JSON, without members given twice.

export interface Position {
  /** Both from 1; a column counts characters. */
  line: number;
  column: number;
}

/** The places of these values, in the order of the paths. Of a value that is not there, the place of what it would stand in. */
export function locateValues(text: string, paths: readonly Segments[]): Position[] {
  const root: Wanted = { offset: 0, members: new Map() };
  const wanted = paths.map((path) => path.reduce<Wanted>(descend, root));
  new Locator(text).value(root);
  return positionsAt(text, wanted.map(offsetOf));
}

/** A tree of the wanted paths, which the walk fills with offsets. */
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

/** The positions of these offsets, in their order. One pass over the text for all of them: it may be large, and in one line. */
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

/** Walks over values that nobody wants without looking at their members one by one. */
class Locator {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  value(wanted: Wanted | undefined): void {
    this.space();
    if (wanted) wanted.offset = this.at;
    const character = this.text[this.at];
    if (character === '{') this.members(wanted);
    else if (character === '[') this.items(wanted);
    else if (character === '"') this.string();
    else this.skip(/[^\s,\]}]*/y);
  }

  private members(wanted: Wanted | undefined): void {
    this.at++;
    for (this.space(); this.text[this.at] === '"'; this.space()) {
      const start = this.at;
      this.string();
      const name: string = wanted ? JSON.parse(this.text.slice(start, this.at)) : '';
      this.skip(/\s*:/y);
      this.value(wanted?.members.get(name));
      this.skip(/\s*,?/y);
    }
    this.at++;
  }

  private items(wanted: Wanted | undefined): void {
    this.at++;
    this.space();
    for (let index = 0; this.at < this.text.length && this.text[this.at] !== ']'; index++) {
      this.value(wanted?.members.get(index));
      this.skip(/\s*,?\s*/y);
    }
    this.at++;
  }

  private string(): void {
    this.skip(/"(?:[^"\\]|\\.)*"/y);
  }

  private space(): void {
    this.skip(/\s*/y);
  }

  private skip(pattern: RegExp): void {
    pattern.lastIndex = this.at;
    this.at += pattern.exec(this.text)?.[0].length ?? 1;
  }
}

/** The segments of a path as `jsonPath` writes it. */
export function segmentsOf(path: string): (string | number)[] {
  const steps = path.matchAll(/\.([A-Za-z_]\w*)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]/g);
  return [...steps].map(([, name, index, quoted]) => {
    if (name !== undefined) return name;
    if (index !== undefined) return Number(index);
    return JSON.parse(`"${(quoted ?? '').replaceAll("\\'", "'").replaceAll('"', '\\"')}"`);
  });
}
