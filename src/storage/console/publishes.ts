import type { Queryable } from '../database.ts';
import { sql } from '../sql.ts';
import { isParked } from '../work/parked.ts';

// The progress of a publish, from its submission to the index.

export interface PublishStanding {
  publisher: string;
  acceptedAt: Date;
  doneAt: Date | null;
  /** JSON texts, in the order of the message. */
  results: string[];
  callback: { state: string; lastError: string | null; settledAt: Date | null } | null;
  catalogs: PublishedStanding[];
}

interface PublishedStanding {
  catalogId: string;
  version: number;
  /** Discovery services that it is pushed to; how many have this version, how many do not get it, and for how many an operator skipped the push. */
  receivers: number;
  acknowledged: number;
  failed: number;
  skipped: number;
  pushedAt: Date | null;
  /** When the own discovery service served its part of it; null until then. */
  indexedAt: Date | null;
}

/** Number of the latest publishes that are searched: messageIds have no index, which every publish and callback would have to maintain. */
const recent = 20_000;

interface SubmissionRow extends Pick<PublishStanding, 'publisher' | 'acceptedAt' | 'doneAt'> {
  id: number;
  requestId: number | null;
}

export async function findPublish(queryable: Queryable, messageId: string) {
  const submission = await queryable.first<SubmissionRow>(sql`
    select id, publisher, "acceptedAt", "doneAt", "requestId" from (
      select id, publisher, message_id, accepted_at as "acceptedAt", done_at as "doneAt", request_id as "requestId"
      from catalog.submission order by id desc limit ${recent}
    ) as recent where message_id = ${messageId} limit 1`);
  if (!submission) return undefined;
  const { id, requestId, ...standing } = submission;
  const results = await queryable.column<string>(sql`select result::text from catalog.submission_result
    where submission_id = ${id} order by position`);
  const callback = await queryable.first<NonNullable<PublishStanding['callback']>>(sql`
    select state, last_error as "lastError", settled_at as "settledAt" from work.callback
    where request_id = ${requestId} and action = 'catalog/on_publish' order by id desc limit 1`);
  const catalogs = await queryable.rows<PublishedStanding>(sql`
    select catalog.id as "catalogId", version, receivers, acknowledged, failed, skipped, pushed_at as "pushedAt",
      (select updated_at from discovery.catalog as held
       where held.owner = catalog.owner and held.id = catalog.id and held.source like 'service:%'
         and (served or held.type = 'MASTER') and held.updated_at >= catalog.updated_at limit 1) as "indexedAt"
    from catalog.submission_result join catalog.catalog on catalog.id = catalog_id
    cross join lateral (
      select count(*) as receivers,
        count(*) filter (where acknowledged_version >= version and state = 'acknowledged') as acknowledged,
        count(*) filter (where ${isParked.push}) as failed, count(*) filter (where state = 'skipped') as skipped,
        max(sent_timestamp) as pushed_at
      from catalog.push where catalog_key = catalog.key
    ) as pushed
    where submission_id = ${id} and result ->> 'status' <> 'REJECTED' order by position`);
  return { ...standing, results, callback: callback ?? null, catalogs };
}

/** The signatures of requests recently answered here, by which a callback may name them. */
export function findRequestSignatures(queryable: Queryable, messageId: string) {
  return queryable.column<string>(sql`select distinct signature from (
      select message_id, request_signature as signature from work.callback order by id desc limit ${recent}
    ) as recent where message_id = ${messageId} limit 10`);
}
