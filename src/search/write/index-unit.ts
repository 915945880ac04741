import type { Transaction } from '../../storage/database.ts';
import { createListRemovals, type ListRemovals } from '../lists/remove.ts';
import { createReachChanges, type ReachChanges } from './reach.ts';
import { createSiblingChanges, type SiblingChanges } from './siblings.ts';

/** What a transaction that writes the index leaves to its end. */
export interface IndexUnit {
  siblings: SiblingChanges;
  reach: ReachChanges;
  removals: ListRemovals;
  /** The last thing that the transaction does. */
  write(tx: Transaction): Promise<void>;
}

export function createIndexUnit(): IndexUnit {
  const [siblings, reach, removals] = [createSiblingChanges(), createReachChanges(), createListRemovals()];
  return {
    siblings,
    reach,
    removals,
    async write(tx) {
      await siblings.write(tx, removals);
      await reach.write(tx, removals);
      await removals.write(tx);
    },
  };
}
