import { bigintArray, textArray } from '../../storage/binary-arrays.ts';
import type { Transaction } from '../../storage/database.ts';
import { nameOf, type ProviderName } from '../cache/provider-cache.ts';
import { catalogKeyOf, keyOf } from '../documents/keys.ts';
import { createListRemovals, type ListRemovals, lockSiblings } from '../lists/remove.ts';
import {
  addToLists,
  entriesOf,
  findInList,
  type ListEntries,
  type StoredRun,
  siblingList,
} from '../lists/runs.ts';

// Catalogs of one owner and provider are siblings: a standing offer of one applies to resources of the others as well. The heads of catalogs that have siblings are a posting list, so that a
// search knows of which standing offers it need not look beyond their own catalog. Whether a catalog has siblings is written when a catalog comes, goes or changes its provider, at the end of the
// transaction and by one transaction at a time: two catalogs of one provider may come at once, and the later one has to see the other.

/** Gathers the catalogs of a transaction whose siblings may have changed. */
export interface SiblingChanges {
  /** `before` and `now` are the ids of its provider; none: there was, or will be, no such catalog. */
  note(catalog: { key: number; owner: string; before?: string; now?: string }): void;
  /** To be called when the catalogs' rows are written, before removals are. */
  write(tx: Transaction, removals: ListRemovals): Promise<void>;
}

export function createSiblingChanges(): SiblingChanges {
  const keys = new Set<number>();
  const providers = new Map<string, ProviderName>();
  return {
    note({ key, owner, before, now }) {
      keys.add(key);
      for (const providerId of [before, now])
        if (providerId) providers.set(nameOf({ owner, providerId }), { owner, providerId });
    },
    async write(tx, removals) {
      if (keys.size === 0) return;
      await lockSiblings(tx);
      const wanted = await findWhoHasSiblings(tx, keys, [...providers.values()]);
      const heads = Array.from(wanted.keys(), (key) => keyOf(key, 0));
      const held = await findInList(tx, siblingList, heads);
      const isWrong = (head: number) => wanted.get(catalogKeyOf(head)) !== held.has(head);
      const wrong = heads.filter(isWrong);
      await addToLists(tx, removals.cancel(entriesFor(wrong.filter((head) => !held.has(head)))));
      await removals.add(tx, entriesFor(wrong.filter((head) => held.has(head))));
      keys.clear();
      providers.clear();
    },
  };
}

/** Of all catalogs: for an index to which older code has written. */
export async function writeSiblings(tx: Transaction): Promise<void> {
  await lockSiblings(tx);
  const { rows } = await tx.query<{ head: number }>(
    `select key << 26 as head from discovery.catalog where ${siblingCondition('catalog')}`,
  );
  const { rows: runs } = await tx.query<StoredRun>('select * from discovery.run where list = $1', [
    siblingList,
  ]);
  const wanted = new Set(rows.map(({ head }) => head));
  const held = new Set(entriesOf(siblingList, runs).keys);
  const removals = createListRemovals();
  await addToLists(tx, entriesFor([...wanted].filter((head) => !held.has(head))));
  await removals.add(tx, entriesFor([...held].filter((head) => !wanted.has(head))));
  await removals.write(tx);
}

/** Whether the catalog `alias` shares its provider with another one of its owner. */
export function siblingCondition(alias: string): string {
  return `${alias}.provider_id <> '' and exists (
    select from discovery.catalog as sibling
    where sibling.owner = ${alias}.owner and sibling.provider_id = ${alias}.provider_id and sibling.key <> ${alias}.key)`;
}

function entriesFor(heads: readonly number[]): ListEntries[] {
  return heads.length > 0 ? [{ list: siblingList, keys: [...heads], marks: heads.map(() => 0) }] : [];
}

/** Whether each of these catalogs has siblings now; and so for the only other one of a provider, for which that may have changed, too. */
async function findWhoHasSiblings(
  tx: Transaction,
  keys: ReadonlySet<number>,
  providers: readonly ProviderName[],
): Promise<Map<number, boolean>> {
  const written = bigintArray([...keys]);
  const { rows } = await tx.query<{ ordinal: number; key: number }>(
    `with wanted as materialized (
       select * from unnest($1::text[], $2::text[]) with ordinality as wanted (owner, provider_id, ordinal)
     )
     select ordinal, key from wanted join discovery.catalog using (owner, provider_id) where key = any ($3::bigint[])
     union all
     select ordinal, other.key from wanted cross join lateral (
       select key from discovery.catalog
       where catalog.owner = wanted.owner and catalog.provider_id = wanted.provider_id and key <> all ($3::bigint[])
       limit 2) as other`,
    [
      textArray(providers.map(({ owner }) => owner)),
      textArray(providers.map(({ providerId }) => providerId)),
      written,
    ],
  );
  const families = new Map<number, { mine: number[]; others: number[] }>();
  for (const { ordinal, key } of rows) {
    const family = families.get(ordinal) ?? { mine: [], others: [] };
    families.set(ordinal, family);
    (keys.has(key) ? family.mine : family.others).push(key);
  }
  const found = new Map<number, boolean>(Array.from(keys, (key) => [key, false]));
  for (const { mine, others } of families.values()) {
    const hasSiblings = mine.length + others.length > 1;
    for (const key of mine) found.set(key, hasSiblings);
    // Two others were siblings before.
    if (others.length === 1) found.set(others[0] as number, hasSiblings);
  }
  return found;
}
