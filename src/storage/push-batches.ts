import type { CatalogType } from '../protocol/catalog.ts';
import type { Interest } from '../rules/match.ts';
import type { CatalogState } from '../rules/push-message.ts';
import { createBatch } from './batch.ts';
import type { Database } from './database.ts';
import { type Claim, LeaseLost, settleAll } from './due-work.ts';
import { type DuePush, fresh, pushTable } from './pushes.ts';

// The two statements of every push that goes well: what it is computed from, and that it was acknowledged. A change goes out to many
// subscribers at once, so both are made for many pushes together.

export interface PushBatches {
  /**
   * Marks that a push is about to leave, and reads what to compute it from. Found marked later, it may have left, and
   * nobody knows what became of it. Rejects with LeaseLost when somebody else has the row.
   */
  begin(claim: Claim<DuePush>, now: Date): Promise<PushBasis>;
  /** The receiver has it. Work that was found meanwhile keeps the row due. Rejects with LeaseLost likewise. */
  acknowledge(claim: Claim<DuePush>, acknowledged: Acknowledged): Promise<void>;
}

/** What a push is computed from, read at one moment. */
export interface PushBasis {
  /** The context.timestamp of the push: later than that of the one before. */
  timestamp: Date;
  id: string;
  type: CatalogType;
  catalog: CatalogState;
  /** The ACTIVE subscriptions of the receiver. */
  interests: Interest[];
}

export interface Acknowledged {
  version: number;
  networks: readonly string[];
  withdrawn: boolean;
  needsFull: boolean;
  status: number;
  /** What a 202 said. */
  remark?: string;
}

const maxBatch = 64;

export function createPushBatches(database: Database): PushBatches {
  const begin = createBatch(maxBatch, (begun: Begun[]) => beginAll(database, begun));
  const acknowledge = createBatch(maxBatch, (entries: Entry[]) => acknowledgeAll(database, entries));
  return {
    async begin(claim, now) {
      const basis = await begin({ claim, now });
      if (basis === undefined) throw new LeaseLost(pushTable, claim.id);
      return basis;
    },
    async acknowledge(claim, acknowledged) {
      if (!(await acknowledge({ claim, acknowledged }))) throw new LeaseLost(pushTable, claim.id);
    },
  };
}

interface Begun {
  claim: Claim<DuePush>;
  now: Date;
}

async function beginAll(database: Database, begun: readonly Begun[]): Promise<(PushBasis | undefined)[]> {
  const { rows } = await database.query<BasisRow>(
    `with marked as (
       update catalog.push
       set in_flight = true, sent_timestamp = greatest(held.now, sent_timestamp + interval '1 millisecond')
       from unnest($1::bigint[], $2::uuid[], $3::timestamptz[]) as held (id, token, now)
       where push.id = held.id and push.lease_token = held.token
       returning push.id, subscriber, catalog_key, sent_timestamp
     ), interests as (
       select owner, jsonb_agg(jsonb_build_object('networkIds', network_ids, 'schemaTypes', schema_types)) as interests
       from catalog.subscription where status = 'ACTIVE' and owner in (select subscriber from marked) group by owner
     )
     select marked.id as push_id, sent_timestamp, catalog.id, type, visible_to, schema_types, version, full_version, is_active,
       coalesce(interests, '[]') as interests
     from marked join catalog.catalog on catalog.key = marked.catalog_key left join interests on interests.owner = subscriber`,
    [begun.map(({ claim }) => claim.id), begun.map(({ claim }) => claim.token), begun.map(({ now }) => now)],
  );
  const bases = new Map(rows.map((row) => [row.push_id, toBasis(row)]));
  return begun.map(({ claim }) => bases.get(claim.id));
}

interface BasisRow {
  push_id: number;
  sent_timestamp: Date;
  id: string;
  type: CatalogType;
  visible_to: string[];
  schema_types: string[];
  version: number;
  full_version: number;
  is_active: boolean;
  interests: Interest[];
}

function toBasis(row: BasisRow): PushBasis {
  const { sent_timestamp: timestamp, id, type, interests } = row;
  const catalog = {
    networkIds: row.visible_to,
    schemaTypes: new Set(row.schema_types),
    version: row.version,
    fullVersion: row.full_version,
    isActive: row.is_active,
  };
  return { timestamp, id, type, catalog, interests };
}

interface Entry {
  claim: Claim<DuePush>;
  acknowledged: Acknowledged;
}

const acknowledgedColumns = {
  state: 'text',
  acknowledged_version: 'integer',
  told_networks: 'text[]',
  withdrawn: 'boolean',
  needs_full: 'boolean',
  last_status: 'integer',
  last_error: 'text',
  in_flight: 'boolean',
  failing_since: 'timestamptz',
  attempts: 'integer',
};

async function acknowledgeAll(database: Database, entries: readonly Entry[]): Promise<boolean[]> {
  const held = await settleAll(
    database,
    pushTable,
    acknowledgedColumns,
    entries.map(({ claim, acknowledged }) => ({
      claim,
      dueAt: null,
      set: {
        ...fresh,
        state: acknowledged.withdrawn ? 'withdrawn' : 'acknowledged',
        acknowledged_version: acknowledged.version,
        told_networks: acknowledged.networks,
        withdrawn: acknowledged.withdrawn,
        needs_full: acknowledged.needsFull,
        last_status: acknowledged.status,
        last_error: acknowledged.remark ?? null,
      },
    })),
  );
  return entries.map(({ claim }) => held.has(claim.id));
}
