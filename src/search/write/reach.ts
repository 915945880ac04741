import { bigintArray, textArray } from '../../storage/binary-arrays.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import { keyOf, lastNumbers } from '../documents/keys.ts';
import { createListRemovals, type ListRemovals, lockSiblings } from '../lists/remove.ts';
import { abroadList, addToLists, findInList, wideList } from '../lists/runs.ts';

// How far offers reach. Nearly all apply to resources of their own catalog alone, so that a search can tell from the key of an offer which resources it may apply to. The catalogs with others
// are posting lists: one of those whose offers name resources of other catalogs, or a provider, and one of those with wide offers that are not standing, which reach their siblings (siblings.ts).
// A catalog stays in these lists until it is removed: there, searches take longer and find the same. As with siblings, the end of a transaction is the time to look, and for one at a time:
// an offer and the resource that it names may come at once.

/** Gathers the offers and resources of a transaction that may meet those of other catalogs. */
export interface ReachChanges {
  noteOffer(home: Home, offer: OfferReach): void;
  /** One that is new in its catalog. */
  noteResource(home: Home, id: string): void;
  /** The catalog is removed. */
  forget(catalogKey: number): void;
  /** To be called when all documents are written, before removals are. */
  write(tx: Transaction, removals: ListRemovals): Promise<void>;
}

interface Home {
  key: number;
  owner: string;
}

/** What an offer says of whom it is for. */
interface OfferReach {
  resourceIds?: readonly string[] | null;
  provider?: { id?: string };
  /** As it is indexed. */
  isStanding: boolean;
}

interface Named {
  home: Home;
  id: string;
}

export function createReachChanges(): ReachChanges {
  const offers = new OffersInQuestion();
  const added: Named[] = [];
  const removed = new Set<number>();
  return {
    noteOffer: (home, offer) => offers.add(home, offer),
    noteResource: (home, id) => void added.push({ home, id }),
    forget: (catalogKey) => void removed.add(catalogKey),
    async write(tx, removals) {
      if (offers.count + added.length + removed.size === 0) return;
      await lockSiblings(tx);
      const lists = await offers.findCatalogs(tx);
      for (const key of await findNamers(tx, added)) lists.get(abroadList)?.add(key);
      for (const [list, keys] of lists) {
        await addHeads(
          tx,
          removals,
          list,
          [...keys].filter((key) => !removed.has(key)),
        );
        await removeHeads(tx, removals, list, [...removed]);
      }
      offers.clear();
      added.length = 0;
      removed.clear();
    },
  };
}

/** Catalogs by the list that they belong to. */
type ReachLists = Map<number, Set<number>>;

class OffersInQuestion {
  private readonly named: Named[] = [];
  private readonly abroad = new Set<number>();
  private readonly wide = new Set<number>();

  get count(): number {
    return this.named.length + this.abroad.size + this.wide.size;
  }

  add(home: Home, { resourceIds, provider, isStanding }: OfferReach): void {
    if (isStanding) return;
    if (resourceIds) for (const id of new Set(resourceIds)) this.named.push({ home, id });
    else if (provider?.id !== undefined) this.abroad.add(home.key);
    else this.wide.add(home.key);
  }

  async findCatalogs(queryable: Queryable): Promise<ReachLists> {
    const naming = await findNamingAbroad(queryable, this.named);
    return new Map([
      [abroadList, new Set([...this.abroad, ...naming])],
      [wideList, new Set(this.wide)],
    ]);
  }

  clear(): void {
    this.named.length = 0;
    this.abroad.clear();
    this.wide.clear();
  }
}

/** The catalogs of those offers that name a resource of another catalog of their owner. */
async function findNamingAbroad(queryable: Queryable, named: readonly Named[]): Promise<number[]> {
  if (named.length === 0) return [];
  // By the owner's catalogs, or by all catalogs that have the id, whichever are few. Where neither are, it is taken for granted: writers wait for each other here, so a lookup stays short.
  const { rows } = await queryable.query<{ home: number }>(
    `with named as materialized (select distinct * from unnest(${namedArrays}) as named (owner, id, home)),
       family as materialized (
         select owner, (
           select count(*) from (select from discovery.catalog where catalog.owner = one.owner limit ${few + 1}) as theirs
         ) <= ${few} as is_small
         from (select distinct owner from named) as one
       )
     select distinct home from named join family using (owner)
     where case when is_small then exists (
         select from (select key from discovery.catalog where catalog.owner = named.owner and catalog.key <> named.home offset 0) as other
         cross join lateral (
           select from discovery.resource where resource.id = named.id and resource.catalog_key = other.key offset 0) as met)
       else (
         select count(*) > ${few} or coalesce(bool_or(other.owner = named.owner), false)
         from (
           select catalog_key from discovery.resource
           where resource.id = named.id and catalog_key <> named.home limit ${few + 1}) as met
         join discovery.catalog as other on other.key = met.catalog_key) end`,
    arraysOf(named),
  );
  return rows.map(({ home }) => home);
}

const few = 8;

/** The catalogs with offers that name one of these resources of other catalogs. */
async function findNamers(queryable: Queryable, added: readonly Named[]): Promise<number[]> {
  if (added.length === 0) return [];
  const { rows } = await queryable.query<{ home: number }>(
    `select distinct namer.home from unnest(${namedArrays}) as added (owner, id, home)
     cross join lateral (
       select offer_key >> 26 as home from discovery.offer_target
       where offer_target.owner = added.owner and resource_id = added.id and offer_key >> 26 <> added.home offset 0) as namer`,
    arraysOf(added),
  );
  return rows.map(({ home }) => home);
}

const namedArrays = '$1::text[], $2::text[], $3::bigint[]';

function arraysOf(named: readonly Named[]): Buffer[] {
  return [
    textArray(named.map(({ home }) => home.owner)),
    textArray(named.map(({ id }) => id)),
    bigintArray(named.map(({ home }) => home.key)),
  ];
}

async function addHeads(
  tx: Transaction,
  removals: ListRemovals,
  list: number,
  catalogKeys: readonly number[],
): Promise<void> {
  if (catalogKeys.length === 0) return;
  const heads = catalogKeys.map((key) => keyOf(key, 0));
  const held = await findInList(tx, list, heads);
  const keys = heads.filter((head) => !held.has(head));
  if (keys.length > 0) await addToLists(tx, removals.cancel([{ list, keys, marks: keys.map(() => 0) }]));
}

async function removeHeads(
  tx: Transaction,
  removals: ListRemovals,
  list: number,
  catalogKeys: readonly number[],
): Promise<void> {
  if (catalogKeys.length === 0) return;
  const heads = catalogKeys.map((key) => keyOf(key, 0));
  const keys = [...(await findInList(tx, list, heads))];
  if (keys.length > 0) await removals.add(tx, [{ list, keys, marks: keys.map(() => 0) }]);
}

/** For an index to which older code has written, or whose lists were lost: of catalogs from one key up to, but without, another. */
export async function writeReach(tx: Transaction, range: CatalogRange = allCatalogs): Promise<void> {
  const removals = createListRemovals();
  await lockSiblings(tx);
  for (const [list, keys] of await findReachLists(tx, range)) await addHeads(tx, removals, list, [...keys]);
}

interface CatalogRange {
  from: number;
  end: number;
}

const allCatalogs: CatalogRange = { from: 0, end: 2 ** 27 };

/** The catalogs of a range, by the list that they belong to now. */
export async function findReachLists(tx: Transaction, { from, end }: CatalogRange): Promise<ReachLists> {
  const lists: ReachLists = new Map([
    [abroadList, new Set()],
    [wideList, new Set()],
  ]);
  for (let after = keyOf(from, 0) - 1; ; ) {
    const { rows } = await tx.query<OfferReach & Home & { offerKey: number }>(
      `select key as "offerKey", catalog_key as key, owner, resource_ids as "resourceIds", document -> 'provider' as provider,
         is_standing as "isStanding"
       from discovery.offer where key > $1 and key <= $2 and not is_standing order by offer.key limit $3`,
      [after, keyOf(end - 1, lastNumbers.offer), offersAtOnce],
    );
    const offers = new OffersInQuestion();
    for (const { key, owner, ...offer } of rows) offers.add({ key, owner }, offer);
    for (const [list, keys] of await offers.findCatalogs(tx))
      for (const key of keys) lists.get(list)?.add(key);
    const last = rows.at(-1);
    if (last === undefined || rows.length < offersAtOnce) return lists;
    after = last.offerKey;
  }
}

const offersAtOnce = 10_000;
