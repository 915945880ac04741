import type { Json, JsonObject } from './json.ts';

// A large JSON value in small pieces: a thread parses it and returns texts, which the main thread joins a few at a time. Copying one large object would block the main thread for as long as parsing it.

/** Approximate characters of a piece: parsing it takes less than a millisecond. */
const pieceLength = 32 * 1024;

/** One step of joining, as JSON text: [container, key, kind] opens an array or object in a container, [container, part] adds to one. Containers are numbered in opening order; 0 has the value. */
type Step = [container: number, key: string, kind: 'array' | 'object'] | [container: number, part: Json];

export function splitJson(value: Json): string[] {
  const large = findLarge(value);
  const pieces: string[] = [];
  let opened = 0;

  function add(container: number, key: string, child: Json, batch: Batch): void {
    if (typeof child === 'object' && child !== null && large.has(child)) {
      // Members keep their order: earlier ones are added first.
      flush(container, batch);
      open(container, key, child);
      return;
    }
    const text = batch.isArray ? JSON.stringify(child) : `${JSON.stringify(key)}:${JSON.stringify(child)}`;
    batch.texts.push(text);
    batch.length += text.length;
    if (batch.length > pieceLength) flush(container, batch);
  }

  function open(container: number, key: string, value: Json[] | JsonObject): void {
    const isArray = Array.isArray(value);
    pieces.push(JSON.stringify([container, key, isArray ? 'array' : 'object'] satisfies Step));
    opened += 1;
    const number = opened;
    const batch: Batch = { isArray, texts: [], length: 0 };
    // As in JSON.stringify, members without a value are omitted.
    for (const [name, child] of Object.entries(value))
      if (child !== undefined) add(number, name, child, batch);
    flush(number, batch);
  }

  function flush(container: number, batch: Batch): void {
    if (batch.texts.length === 0) return;
    const part = batch.texts.join();
    pieces.push(`[${container},${batch.isArray ? `[${part}]` : `{${part}}`}]`);
    [batch.texts, batch.length] = [[], 0];
  }

  const outer: Batch = { isArray: true, texts: [], length: 0 };
  add(0, '0', value, outer);
  flush(0, outer);
  return pieces;
}

/** The arrays and objects longer than a piece. Each value is measured once, at any depth. */
function findLarge(value: Json): Set<object> {
  const large = new Set<object>();
  const measure = (value: Json): number => {
    if (typeof value === 'string') return value.length;
    if (typeof value !== 'object' || value === null) return shortLength;
    let length = 0;
    for (const name of Object.keys(value))
      length += name.length + shortLength + measure((value as JsonObject)[name] as Json);
    if (length > pieceLength) large.add(value);
    return length;
  };
  measure(value);
  return large;
}

/** A number, a literal, or the text between a member and the next. */
const shortLength = 4;

interface Batch {
  isArray: boolean;
  texts: string[];
  length: number;
}

/** Joins the pieces, one per call of `next`; false if there are no more. */
export function joinJson(pieces: readonly string[]): { next(): boolean; value(): Json } {
  const outer: Json[] = [];
  const containers: (Json[] | JsonObject)[] = [outer];
  let at = 0;
  return {
    next() {
      const text = pieces[at];
      if (text === undefined) return false;
      at += 1;
      const [number, ...step] = JSON.parse(text) as Step;
      const container = containers[number] ?? outer;
      if (step.length === 1) {
        addPart(container, step[0]);
      } else {
        const child: Json[] | JsonObject = step[1] === 'array' ? [] : {};
        containers.push(child);
        if (Array.isArray(container)) container.push(child);
        else setMember(container, step[0], child);
      }
      return true;
    },
    value: () => outer[0] as Json,
  };
}

function addPart(container: Json[] | JsonObject, part: Json): void {
  if (Array.isArray(container)) for (const item of part as Json[]) container.push(item);
  else for (const [name, member] of Object.entries(part as JsonObject)) setMember(container, name, member);
}

/** As in JSON.parse: `__proto__` is a member like any other. */
function setMember(object: JsonObject, name: string, value: Json): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
