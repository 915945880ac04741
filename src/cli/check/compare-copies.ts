import type { FeedState } from '../../rules/troubles.ts';
import { digestPublished, listPublished, type PublishedCatalog } from '../../storage/catalog/consistency.ts';
import type { Queryable } from '../../storage/database.ts';
import {
  digestCopy,
  findIndexedCopies,
  type IndexedCopy,
  listServedCopies,
} from '../../storage/feeds/consistency.ts';
import { joinSome } from '../command.ts';
import type { Suspect } from './difference.ts';

// Compares the catalogs of a catalog service with the copies of a discovery service, and checks each on its own.

const catalogsAtOnce = 100;

export interface Sides {
  catalogs: Queryable;
  index: Queryable;
  service: string;
  feeds: readonly FeedState[];
  /** The ACTIVE subscriptions of these feeds, with their owners. */
  active: ReadonlyMap<string, string>;
  onCatalogs(count: number): void;
}

/** Feeds without an active subscription at the catalog service. Feeds that fail are troubles. */
export function compareFeeds({ service, feeds, active }: Sides): Suspect[] {
  return feeds.flatMap(({ catalogUrl, networkId, subscriptionId }): Suspect[] => {
    if (subscriptionId !== null && active.has(subscriptionId)) return [];
    const name = `subscription ${catalogUrl} ${networkId}`;
    const feed = `the discovery service's feed of ${service}${networkId && `, network ${networkId},`}`;
    const message = `${feed} has no ACTIVE subscription${subscriptionId === null ? '' : `: ${subscriptionId} is unknown to the catalog service, or INACTIVE`}.`;
    return [{ kind: 'subscription', name, progress: String(subscriptionId), message }];
  });
}

export async function compareCopies(sides: Sides, ids?: readonly string[]): Promise<Suspect[]> {
  const { catalogs, index, service, feeds, onCatalogs } = sides;
  const suspects: Suspect[] = [];
  const subscriptions = feeds.flatMap(({ subscriptionId }) => subscriptionId ?? []);
  const source = `service:${service}`;
  for (let after = 0; ; ) {
    const page = await listPublished(catalogs, { after, limit: catalogsAtOnce, ids }, subscriptions);
    const last = page.at(-1);
    if (!last) break;
    after = last.key;
    const wanted = page.filter(({ isWanted, owner }) => isWanted && owner !== null).map(({ id }) => id);
    const copies = await findIndexedCopies(index, source, wanted);
    for (const published of page) {
      suspects.push(...compareRows(published));
      if (!wanted.includes(published.id)) continue;
      const suspect = await compareCopy(sides, published, copies.get(published.id));
      if (suspect) suspects.push(suspect);
    }
    onCatalogs(page.length);
  }
  return [...suspects, ...(await findSurplus(sides, source, subscriptions, ids))];
}

function compareRows({ id, version, loggedVersion, resources, offers, counted }: PublishedCatalog) {
  const suspects: Suspect[] = [];
  const note = (what: string, message: string) =>
    suspects.push({
      ...{ kind: 'catalog-rows', catalogId: id, name: `${what} ${id}`, progress: String(version) },
      message: `catalog ${id} of the catalog service ${message}`,
    });
  if (resources !== counted.resources || offers !== counted.offers)
    note(
      'count',
      `says that it has ${resources} resources and ${offers} offers, but has ${counted.resources} and ${counted.offers}.`,
    );
  if (loggedVersion === null || loggedVersion < version)
    note('log', `is at version ${version}, but its change log is at ${loggedVersion ?? 'none'}.`);
  return suspects;
}

async function compareCopy(
  { catalogs, index }: Sides,
  published: PublishedCatalog,
  copy: IndexedCopy | undefined,
): Promise<Suspect | undefined> {
  const { id, version, fingerprint } = published;
  const suspect = { catalogId: id, name: `copy ${id}` };
  const at = `catalog ${id} is at version ${version} in the catalog service`;
  if (!copy)
    return { ...suspect, kind: 'copy-missing', progress: '', message: `${at}, but is not in the index.` };
  const progress = `${copy.fingerprint} ${copy.pushedAt?.getTime()}`;
  if (copy.fingerprint !== fingerprint) {
    const publishedDigests = await digestPublished(catalogs, published.key);
    const copyDigests = await digestCopy(index, copy.key);
    const parts = describeDocuments(publishedDigests, copyDigests);
    const message = `${at}, but the index differs: ${parts}.`;
    return { ...suspect, kind: 'copy-differs', progress, message };
  }
  const isUsed = (copy.isServed && copy.isActive) || copy.isReplaced || copy.isMaster;
  if (isUsed) return undefined;
  const message = `${at}, and is in the index, but not served.`;
  return { ...suspect, kind: 'copy-hidden', progress, message };
}

function describeDocuments(published: ReadonlyMap<string, string>, copied: ReadonlyMap<string, string>) {
  const missing = [...published.keys()].filter((name) => !copied.has(name));
  const surplus = [...copied.keys()].filter((name) => !published.has(name));
  const others = [...published].filter(([name, digest]) => (copied.get(name) ?? digest) !== digest);
  const parts = [
    missing.length > 0 ? `${joinSome(missing)} missing` : '',
    surplus.length > 0 ? `${joinSome(surplus)} too many` : '',
    others.length > 0 ? `${joinSome(others.map(([name]) => name))} with other content` : '',
  ];
  return parts.filter((part) => part !== '').join('; ') || 'the members of the catalog itself';
}

/** Finds catalogs that searches return although the catalog service does not have them, or not for this discovery service. */
async function findSurplus(
  { catalogs, index }: Sides,
  source: string,
  subscriptions: readonly string[],
  ids: readonly string[] | undefined,
): Promise<Suspect[]> {
  const suspects: Suspect[] = [];
  for (let after = 0; ; ) {
    const page = await listServedCopies(index, source, { after, limit: catalogsAtOnce, ids });
    const last = page.at(-1);
    if (!last) return suspects;
    after = last.key;
    const named = { after: 0, limit: catalogsAtOnce, ids: page.map(({ id }) => id) };
    const listed = await listPublished(catalogs, named, subscriptions);
    const published = new Map(listed.map((one) => [one.id, one]));
    for (const { id } of page) {
      const one = published.get(id);
      if (one?.isWanted) continue;
      const why = one
        ? 'is no longer for this discovery service, or is not active'
        : 'is not in the catalog service';
      suspects.push({
        ...{ kind: 'copy-surplus', catalogId: id, name: `copy ${id}`, progress: '' },
        message: `catalog ${id} ${why}, but the index serves it.`,
      });
    }
  }
}
