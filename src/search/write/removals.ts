import type { Transaction } from '../../storage/database.ts';
import type { Generation } from '../generations/in-use.ts';
import { createListRemovals, type ListRemovals } from '../lists/remove.ts';

/** What a transaction removes from the lists of each generation that it writes: the last thing that it does. */
export interface Removals {
  of(generation: Generation): ListRemovals;
  write(tx: Transaction): Promise<void>;
}

export function createRemovals(generations: readonly Generation[]): Removals {
  const all = new Map(generations.map(({ number, index }) => [number, createListRemovals(index)]));
  return {
    of: ({ number }) => all.get(number) as ListRemovals,
    async write(tx) {
      for (const removals of all.values()) await removals.write(tx);
    },
  };
}
