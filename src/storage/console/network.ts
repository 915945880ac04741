import type { Queryable } from '../database.ts';
import { sql } from '../sql.ts';
import { likePattern } from '../texts.ts';

// Who takes part in the networks of this database, for its operator.

interface ParticipantSummary {
  namespace: string;
  registryName: string;
  subscriberId: string;
  type: string | null;
  url: string | null;
  networks: string[];
  keys: {
    recordId: string;
    publicKey: string;
    state: string;
    validFrom: string | null;
    validUntil: string | null;
  }[];
}

export function listParticipants(
  queryable: Queryable,
  {
    text,
    limit,
    after,
  }: { text?: string; limit: number; after?: { namespace: string; registryName: string } },
) {
  const pattern = text === undefined ? undefined : likePattern(text);
  return queryable.rows<ParticipantSummary>(sql`
    select namespace, registry_name as "registryName", subscriber_id as "subscriberId", type, url,
      array(select network_id from registry.membership as m
        where m.namespace = p.namespace and m.registry_name = p.registry_name order by 1) as networks,
      (select coalesce(jsonb_agg(jsonb_build_object('recordId', record_id, 'publicKey', public_key, 'state', state,
          'validFrom', valid_from, 'validUntil', valid_until) order by created_at desc, record_id), '[]')
       from registry.signing_key as k where k.namespace = p.namespace and k.registry_name = p.registry_name) as keys
    from registry.participant as p
    where (${after?.namespace}::text is null or (namespace, registry_name) > (${after?.namespace}, ${after?.registryName}))
      and (${pattern}::text is null or namespace ilike ${pattern} or subscriber_id ilike ${pattern} or url ilike ${pattern})
    order by namespace, registry_name limit ${limit}`);
}

interface SubscriptionSummary {
  id: string;
  subscriber: string;
  /** As the own registry has it. */
  url: string | null;
  networkIds: string[];
  schemaTypes: string[];
  status: string;
  createdAt: Date;
}

export function listAllSubscriptions(
  queryable: Queryable,
  { limit, after }: { limit: number; after?: { subscriber: string; id: string } },
) {
  return queryable.rows<SubscriptionSummary>(sql`
    select id, owner as subscriber, url, network_ids as "networkIds", schema_types as "schemaTypes", status, s.created_at as "createdAt"
    from (
      select * from catalog.subscription
      where ${after ? sql`owner >= ${after.subscriber} and (owner, id) > (${after.subscriber}, ${after.id}::uuid)` : sql`true`}
      order by owner, id limit ${limit}
    ) as s left join registry.participant as p
      on p.namespace = split_part(owner, '/', 1) and p.registry_name = split_part(owner, '/', 2)
    order by owner, id`);
}

interface FeedSummary {
  catalogUrl: string;
  service: string | null;
  /** '' for every network. */
  networkId: string;
  state: 'cancelled' | 'failing' | 'subscribing' | 'pulling' | 'in step';
  lastPullAt: Date | null;
  nextAt: Date | null;
  lastError: string | null;
}

/** Feeds of the discovery service: one per catalog service and network of the settings. */
export function listAllFeeds(queryable: Queryable) {
  return queryable.rows<FeedSummary>(sql`
    select catalog_url as "catalogUrl", service, network_id as "networkId",
      case when not configured then 'cancelled' when failures > 0 then 'failing' when subscription_id is null then 'subscribing'
        when run is not null then 'pulling' else 'in step' end as state,
      completed_at as "lastPullAt", least(due_at, pull_at) as "nextAt", case when failures > 0 then last_error end as "lastError"
    from discovery.feed order by position, id`);
}
