import fc from 'fast-check';
import { hostileText, hostileValue } from './hostile-values.ts';

// Structure-aware mutation: a few changes at random places of a valid document, which stays JSON.

export type Mutation =
  | { op: 'remove' | 'double' | 'empty' | 'wrap'; at: number }
  | { op: 'replace'; at: number; value: unknown }
  | { op: 'add' | 'rename'; at: number; name: string; value: unknown }
  /** Copies a value to another place. */
  | { op: 'copy'; at: number; from: number };

/** Evenly distributed, because by default the ends are drawn most often. */
export const place = fc.noBias(fc.integer({ min: 0, max: 2 ** 20 - 1 })).map((number) => number / 2 ** 20);

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant('replace' as const), at: place, value: hostileValue }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constantFrom('remove', 'double', 'empty', 'wrap'), at: place }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constantFrom('add', 'rename'),
      at: place,
      name: hostileText,
      value: hostileValue,
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('copy' as const), at: place, from: place }) },
);

/** Sometimes none, so that valid documents also occur. */
export const mutations: fc.Arbitrary<Mutation[]> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Mutation[]>([]) },
  { weight: 12, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 3 }) },
);

export function mutate(document: unknown, changes: readonly Mutation[]): unknown {
  let root = structuredClone(document);
  // Inserts copies: the next change may be inside one, and the hostile values are reused.
  for (const change of changes.map((one) => structuredClone(one))) {
    const slots = slotsOf(root);
    const slot = slots[Math.floor(change.at * slots.length)];
    if (!slot) {
      if (change.op === 'replace') root = change.value;
      continue;
    }
    apply(slot, change, slots);
  }
  return root;
}

/** As JSON text; empty if nothing is left. */
export function mutateText(document: unknown, changes: readonly Mutation[]): string {
  return JSON.stringify(mutate(document, changes)) ?? '';
}

interface Slot {
  holder: Holder;
  name: string | number;
}

type Holder = Record<string | number, unknown>;

/** Every member and item, from the outside in. */
function slotsOf(root: unknown): Slot[] {
  const slots: Slot[] = [];
  const waiting = [root];
  for (let value = waiting.shift(); value !== undefined || waiting.length > 0; value = waiting.shift()) {
    if (typeof value !== 'object' || value === null) continue;
    const names: (string | number)[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
    for (const name of names) {
      slots.push({ holder: value as Holder, name });
      waiting.push((value as Holder)[name]);
    }
  }
  return slots;
}

function apply({ holder, name }: Slot, change: Mutation, slots: readonly Slot[]): void {
  const value = holder[name];
  const put = (member: string | number, next: unknown) =>
    Object.defineProperty(holder, member, {
      ...{ value: next, enumerable: true, configurable: true, writable: true },
    });
  const drop = () => (Array.isArray(holder) ? holder.splice(Number(name), 1) : delete holder[name]);
  switch (change.op) {
    case 'remove':
      return void drop();
    case 'replace':
      return void put(name, change.value);
    case 'double':
      return void (Array.isArray(holder) ? holder.push(structuredClone(value)) : put(name, [value, value]));
    case 'empty':
      return void put(name, Array.isArray(value) ? [] : typeof value === 'object' ? {} : '');
    case 'wrap':
      return void put(name, [value]);
    case 'rename':
      if (!Array.isArray(holder)) drop();
      return void put(Array.isArray(holder) ? holder.length : change.name, value);
    case 'add':
      return void put(Array.isArray(holder) ? holder.length : change.name, change.value);
    case 'copy': {
      const source = slots[Math.floor(change.from * slots.length)];
      // A copy, so that the document cannot contain itself.
      return void (source && put(name, structuredClone(source.holder[source.name])));
    }
  }
}
