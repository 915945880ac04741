import type { Queryable } from '../database.ts';

// How far a publish has come, from its submission to the index.

export interface PublishStanding {
  publisher: string;
  acceptedAt: Date;
  doneAt: Date | null;
  /** JSON texts, in the order of the message. */
  results: string[];
  callback: { state: string; lastError: string | null; settledAt: Date | null } | null;
  catalogs: PublishedStanding[];
}

export interface PublishedStanding {
  catalogId: string;
  version: number;
  /** Discovery services that it is pushed to; how many have this version, and how many do not get it. */
  receivers: number;
  acknowledged: number;
  failed: number;
  pushedAt: Date | null;
  /** When the own discovery service served what it has of it; null while it does not. */
  indexedAt: Date | null;
}

export async function findPublish(
  queryable: Queryable,
  messageId: string,
): Promise<PublishStanding | undefined> {
  const { rows } = await queryable.query<{
    id: number;
    publisher: string;
    acceptedAt: Date;
    doneAt: Date | null;
  }>(
    `select id, publisher, accepted_at as "acceptedAt", done_at as "doneAt" from catalog.submission
     where message_id = $1 order by id desc limit 1`,
    [messageId],
  );
  const [submission] = rows;
  if (!submission) return undefined;
  const { id, ...standing } = submission;
  const results = await queryable.query<{ result: string }>(
    'select result::text as result from catalog.submission_result where submission_id = $1 order by position',
    [id],
  );
  const callbacks = await queryable.query<NonNullable<PublishStanding['callback']>>(
    `select state, last_error as "lastError", settled_at as "settledAt" from work.callback
     where message_id = $1 and action = 'catalog/on_publish' order by id desc limit 1`,
    [messageId],
  );
  const catalogs = await queryable.query<PublishedStanding>(
    `select catalog.id as "catalogId", version, receivers, acknowledged, failed, pushed_at as "pushedAt",
       (select updated_at from discovery.catalog as held
        where held.owner = catalog.owner and held.id = catalog.id and held.source like 'service:%'
          and (served or held.type = 'MASTER') and held.updated_at >= catalog.updated_at limit 1) as "indexedAt"
     from catalog.submission_result join catalog.catalog on catalog.id = catalog_id
     cross join lateral (
       select count(*) as receivers,
         count(*) filter (where acknowledged_version >= version and state = 'acknowledged') as acknowledged,
         count(*) filter (where state in ('parked', 'no endpoint')) as failed, max(sent_timestamp) as pushed_at
       from catalog.push where catalog_key = catalog.key
     ) as pushed
     where submission_id = $1 and result ->> 'status' <> 'REJECTED' order by position`,
    [id],
  );
  return {
    ...standing,
    results: results.rows.map(({ result }) => result),
    callback: callbacks.rows[0] ?? null,
    catalogs: catalogs.rows,
  };
}
