import type { Queryable } from '../database.ts';
import { type DocumentDigests, digestDocuments, fingerprintOf } from '../fingerprint.ts';
import { type Sql, sql } from '../sql.ts';
import { subscriptionMatches } from './subscriptions.ts';

// The catalog service's side of `signpost check`: catalogs with fingerprints of their documents, and pushes that subscribers have missed.

export interface Page {
  after: number;
  limit: number;
  ids?: readonly string[];
}

export interface PublishedCatalog {
  key: number;
  id: string;
  owner: string | null;
  version: number;
  /** Whether it is active, and one of the given subscriptions asks for it. */
  isWanted: boolean;
  loggedVersion: number | null;
  /** As its row says, and as there are. */
  resources: number;
  offers: number;
  counted: { resources: number; offers: number };
  fingerprint: string;
}

export async function listPublished(
  queryable: Queryable,
  { after, limit, ids }: Page,
  subscriptionIds: readonly string[],
): Promise<PublishedCatalog[]> {
  const { rows } = await queryable.query<Omit<PublishedCatalog, 'counted'> & { content: string[] }>(sql`
    select key, catalog.id, catalog.owner, version, resource_count as resources, offer_count as offers,
      (select max(version) from catalog.change_log where catalog_key = key) as "loggedVersion",
      is_active and exists (
        select from catalog.subscription where subscription.id = any (${subscriptionIds}::uuid[]) and ${subscriptionMatches(sql`catalog`)}
      ) as "isWanted",
      md5(head::jsonb::text) as fingerprint, array[${fingerprintOf(resourcesOf(sql`key`))}, ${fingerprintOf(offersOf(sql`key`))}] as content
    from catalog.catalog where key > ${after} and (${ids}::text[] is null or catalog.id = any (${ids})) order by key limit ${limit}`);
  return rows.map(({ content, fingerprint, ...row }) => {
    const [resources = 0, offers = 0] = content.map((text) => Number.parseInt(text, 10));
    return { ...row, counted: { resources, offers }, fingerprint: [fingerprint, ...content].join(' ') };
  });
}

const resourcesOf = (key: number | Sql) =>
  sql`select id, coalesce(assembled, own) as document from catalog.resource where catalog_key = ${key}`;
const offersOf = (key: number | Sql) =>
  sql`select id, own as document from catalog.offer where catalog_key = ${key}`;

export function digestPublished(queryable: Queryable, key: number): Promise<DocumentDigests> {
  return digestDocuments(queryable, { resources: resourcesOf(key), offers: offersOf(key) });
}

export interface MissedPush {
  id: string;
  version: number;
  subscriber: string;
  acknowledgedVersion: number | null;
  /** Null: nothing was ever planned for it. */
  state: string | null;
  lastError: string | null;
  dueAt: Date | null;
  attempts: number | null;
  /** It does not match any more, which the subscriber has not acknowledged. */
  isWithdrawal: boolean;
  lastSentAt: Date | null;
}

/** A subscription of the same moment may or may not get a change as a push: it pulls. */
const subscribedBefore = sql`interval '1 minute'`;

/** Catalogs published before a subscription are pulled, not pushed: without a push, a subscriber missed them only if they changed afterwards. */
export function listMissedPushes(
  queryable: Queryable,
  { ids, limit }: { ids?: readonly string[]; limit: number },
) {
  return queryable.rows<MissedPush>(sql`with wanted as (
      select subscription.owner as subscriber, key, min(subscription.updated_at) as since
      from catalog.catalog join catalog.subscription on status = 'ACTIVE' and ${subscriptionMatches(sql`catalog`)}
      where is_active and (${ids}::text[] is null or catalog.id = any (${ids})) group by 1, 2
    ), missed as (
      select coalesce(wanted.subscriber, push.subscriber) as subscriber, coalesce(wanted.key, push.catalog_key) as key, wanted.since,
        acknowledged_version, state, last_error, due_at, attempts, withdrawn, in_flight, push.id is null as is_unplanned,
          wanted.key is null as is_withdrawal
      from wanted full join catalog.push on push.subscriber = wanted.subscriber and push.catalog_key = wanted.key
    )
    select catalog.id, version, subscriber, acknowledged_version as "acknowledgedVersion", state, last_error as "lastError",
      due_at as "dueAt", attempts,
      is_withdrawal as "isWithdrawal", (select max(sent_timestamp) from catalog.push as sent
        where sent.subscriber = missed.subscriber) as "lastSentAt"
    from missed join catalog.catalog using (key)
    where (${ids}::text[] is null or catalog.id = any (${ids})) and case
      when is_unplanned then catalog.updated_at > since + ${subscribedBefore}
      when is_withdrawal then (in_flight or acknowledged_version is not null and not withdrawn) and exists (
        select from catalog.subscription where subscription.owner = missed.subscriber and status = 'ACTIVE')
      else state <> 'acknowledged' or acknowledged_version < version end
    order by catalog.id, subscriber limit ${limit}`);
}

export async function listActive(queryable: Queryable, ids: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await queryable.query<{ id: string; owner: string }>(sql`select id, owner
    from catalog.subscription where id = any (${ids}::uuid[]) and status = 'ACTIVE'`);
  return new Map(rows.map(({ id, owner }) => [id, owner]));
}
