import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { purgeExpired } from '../../../src/housekeeping.ts';
import { silentLogger } from '../../../src/logger.ts';
import { purgeChanges } from '../../../src/search/cache/invalidation.ts';
import type { Database } from '../../../src/storage/database.ts';
import { claimHousekeeping } from '../../../src/storage/work/retention.ts';
import { createTestDatabase, useDatabase } from '../../support/database/database.ts';
import { fillTables, largeTables, small } from '../../support/database/large-tables.ts';

// Every table of the schema needs a decision here: either old rows are deleted, and the test plants a year of rows, one a day; or something else
// bounds it. A new table without a decision fails the first test. docs/operating.md gives operators the same information.

/** A row is half a day younger than its `day`, from 1 to 365. */
const days = 'generate_series(1, 365) as day';
const at = `now() - (day - 0.5) * interval '1 day'`;
const key = (prefix: string) => `sha256(convert_to('${prefix}' || day, 'UTF8'))`;

interface Aged {
  plant: string;
  /** The time that decides, and the number of days that a row is kept after it. */
  time: string;
  keptDays: number;
  /** The number of older rows that are still needed. */
  needed?: number;
  /** The rows of the table that are meant. */
  where?: string;
}

const planted: Record<string, Aged> = {
  'work.request': {
    plant: `insert into work.request (key, role, identity, method, url, message_id, digest, status, body, expires, open)
      select ${key('r')}, 'catalog', 'a', 'POST', '/', day, '', 200, '', ${at}, day = 300 from ${days}`,
    time: 'expires',
    keptDays: 0,
    needed: 1,
  },
  'work.callback': {
    plant: `insert into work.callback (role, action, message_id, destination, receiver, body, request_signature, created_at, give_up_at, state, settled_at, due_at)
      select 'catalog', 'on_publish', day, 'https://a.test', 'https://a.test', '', '', ${at}, ${at}, state,
        case when state <> 'open' then ${at} end, case when state = 'open' then ${at} end
      from ${days}, unnest(array['delivered', 'skipped', 'open']) as state`,
    time: 'created_at',
    keptDays: 30,
    needed: 335,
    where: "state in ('delivered', 'skipped', 'open')",
  },
  'work.callback parked': {
    plant: `insert into work.callback (role, action, message_id, destination, receiver, body, request_signature, created_at, give_up_at, state, settled_at)
      select 'catalog', 'on_publish', day, 'https://a.test', 'https://a.test', '', '', ${at}, ${at}, state, ${at}
      from ${days}, unnest(array['refused', 'parked']) as state`,
    time: 'settled_at',
    keptDays: 90,
    where: "state in ('refused', 'parked')",
  },
  'work.sent_request': {
    plant: `insert into work.sent_request (role, message_id, action, digest, signatures, expires)
      select 'discovery', day, 'pull', '', '{}', ${at} from ${days};
      insert into work.taken_callback (role, message_id, signer, action, digest) select 'discovery', day, 'a', 'on_pull', '' from ${days}`,
    time: 'expires',
    keptDays: 0,
  },
  'work.receiver_form': {
    plant: `insert into work.receiver_form (receiver, form, until) select 'a.test/' || day, 'strict', ${at} from ${days}`,
    time: 'until',
    keptDays: 0,
  },
  'catalog.submission': {
    plant: `insert into catalog.submission (publisher, message_id, accepted_at, context, digest, request_signature, callback_url, record_subscriber_id, done_at)
      select 'a', day, ${at}, '{}', '', '', '', 'a', case when day <> 300 then ${at} end from ${days};
      insert into catalog.submission_result (submission_id, position, catalog_id, result) select id, 0, 'a', '{}' from catalog.submission`,
    time: 'accepted_at',
    keptDays: 30,
    needed: 1,
  },
  'catalog.change_log': {
    // Daily changes of catalog 1, and an old one of catalog 2, which is its latest.
    plant: `insert into catalog.change_log (seq, catalog_key, version, publisher, kind, at, details)
      select 366 - day, case day when 300 then 2 else 1 end, 366 - day, 'a', 'update', ${at}, '{}' from ${days};
      update catalog.push_cursor set seq = 365`,
    time: 'at',
    keptDays: 30,
    needed: 1,
  },
  'catalog.push': {
    // The receiver of day 300 has not acknowledged the withdrawal.
    plant: `insert into catalog.catalog (id, type, visible_to, version, full_version, members, head, is_active, resource_count, offer_count, schema_uses,
        schema_types, published_at, updated_at) values ('a', 'REGULAR', '{}', 1, 1, '{}', '{}', true, 0, 0, '{}', '{}', now(), now());
      insert into catalog.push (subscriber, catalog_key, wanted_version, sent_timestamp, state, due_at)
      select day, catalog.key, 1, ${at}, case day when 300 then 'pending' else 'withdrawn' end, case day when 300 then ${at} end
      from ${days} cross join catalog.catalog`,
    time: 'sent_timestamp',
    keptDays: 30,
    needed: 1,
    where: "state in ('withdrawn', 'pending')",
  },
  'catalog.push parked': {
    // One of the receivers has a subscription.
    plant: `insert into catalog.push (subscriber, catalog_key, wanted_version, failing_since, state)
      select 'd' || day, catalog.key, 1, ${at}, 'parked' from ${days} cross join catalog.catalog;
      insert into catalog.subscription (id, owner, status, network_ids, schema_types, created_at, updated_at)
      values (gen_random_uuid(), 'd300', 'ACTIVE', '{}', '{}', now(), now())`,
    time: 'failing_since',
    keptDays: 90,
    needed: 1,
    where: "state = 'parked'",
  },
  'catalog.download': {
    plant: `insert into catalog.download (id, owner, expires_at, size_bytes, checksum) select gen_random_uuid(), 'a', ${at}, 1, '' from ${days};
      insert into catalog.download_piece (download_id, position, bytes) select id, 0, 'x' from catalog.download`,
    time: 'expires_at',
    keptDays: 0,
  },
  'registry.record_version': {
    // The current record, and one version per day, each followed by that of the next day.
    plant: `insert into registry.participant (namespace, registry_name, subscriber_id) values ('a', 'r', 'a');
      insert into registry.signing_key (namespace, registry_name, record_id, public_key, state, ttl_seconds) values ('a', 'r', 'k', '', 'live', 1);
      update registry.record_version set version = 366;
      insert into registry.record_version (namespace, registry_name, record_id, subscriber_id, public_key, state, ttl_seconds, catalog_index_urls,
        network_memberships, created_at, version, recorded_at)
      select namespace, registry_name, record_id, subscriber_id, public_key, state, ttl_seconds, catalog_index_urls, network_memberships, created_at,
        366 - day, ${at} from registry.record_version, ${days}`,
    time: 'recorded_at',
    keptDays: 30,
    // The state of the record 30 days ago is an older version.
    needed: 1,
  },
  'discovery.crawl_log': {
    plant: `insert into discovery.crawl_log (key, node, code, message, hint, first_at, at)
      select ${key('l')}, 'a', 'X', '', '', ${at}, ${at} from ${days}`,
    time: 'at',
    keptDays: 30,
  },
  'discovery.change': {
    plant: `insert into discovery.change (at, catalogs) select ${at}, '{1}' from ${days};
      insert into discovery.change (catalogs) values ('{1}')`,
    time: 'at',
    keptDays: 1 / 24,
  },
  'console.audit': {
    plant: `insert into console.audit (at, actor, operator, action, target, outcome) select ${at}, 'cli', 'anna', 'a', 'b', 'done' from ${days}`,
    time: 'at',
    keptDays: 200,
  },
  'console.minute': {
    plant: `insert into console.minute (at, process, numbers) select ${at}, 'p', '{}' from ${days}`,
    time: 'at',
    keptDays: 7,
  },
  'console.empty_search': {
    plant: `insert into console.empty_search (key, intent, near_misses, first_at, at, times)
      select ${key('s')}, '{}', '[]', ${at}, ${at}, 1 from ${days}`,
    time: 'at',
    keptDays: 7,
  },
};

/** Rows that are deleted with those of another table. */
const dependents: Record<string, string> = {
  'work.taken_callback': 'work.sent_request',
  'catalog.submission_result': 'catalog.submission',
  'catalog.download_piece': 'catalog.download',
};

const settingsOnly = 'as many rows as the settings name';
const oneRow = 'one row';
const current = 'what is published now: replaced and deleted with the catalogs themselves';
const nodes =
  'as many rows as the crawled nodes have; a node that was ever named is remembered, against replay of its older files';
const swept =
  'what no document uses any more is deleted after a walk of compaction (src/search/upkeep/sweep.test.ts)';

const bounded: Record<string, string> = {
  'work.migration': 'one row for each migration',
  'work.housekeeping': oneRow,
  'console.operator': 'as many as the operator creates',
  'registry.participant': 'as many as the operator registers',
  'registry.signing_key': 'as many as the operator registers',
  'registry.membership': 'as many as the operator registers',
  'catalog.subscription': 'cancelled ones: the latest of each subscriber only (purgeInactive)',
  'catalog.lane': 'one row for each identity that published',
  'catalog.push_lane': 'one row for each identity that subscribed',
  'catalog.catalog': current,
  'catalog.resource': current,
  'catalog.offer': current,
  'catalog.inherited': current,
  'catalog.rebuild': 'one row for each MASTER catalog',
  'catalog.push_cursor': oneRow,
  'catalog.pull': 'deleted when it is answered; a share for each subscriber',
  'discovery.catalog': current,
  'discovery.resource': current,
  'discovery.offer': current,
  'discovery.offer_target': current,
  'index_1.geometry': current,
  'index_1.run': 'posting lists of what is indexed; compacted in the background',
  'index_1.geometry_path': swept,
  'index_1.object_path':
    'one digest for each distinct path of member names at which a resource ever had an object',
  'index_1.word': swept,
  'index_1.deletion': swept,
  'work.unregistered_key':
    'one row for each running role whose key is missing; those of the ended are deleted by the others',
  'discovery.feed': settingsOnly,
  'discovery.pull_answer': 'one for each feed',
  'discovery.listing': 'one for each feed and catalog',
  'discovery.external_index': oneRow,
  'discovery.external_change': 'changed catalogs; deleted when OpenSearch has them',
  'discovery.unsettled': 'changed catalogs; deleted within seconds, when it is settled whose copy counts',
  'discovery.pulled_item': 'ids of one catalog for each feed; deleted when its last part has come',
  'discovery.presence': oneRow,
  'discovery.crawl_policy': oneRow,
  'discovery.crawl_source': settingsOnly,
  'discovery.crawl_host': nodes,
  'discovery.crawl_node': nodes,
  'discovery.crawl_naming': nodes,
  'discovery.crawl_index': nodes,
  'discovery.crawl_entry': nodes,
  'discovery.crawl_target': nodes,
  'discovery.crawl_extension': nodes,
  'discovery.crawl_inherited': nodes,
  'discovery.crawl_rebuild': 'one row for each MASTER catalog',
  'discovery.crawl_lost_master':
    'those that crawled catalogs extend; others are deleted when the next one goes',
  'discovery.crawl_stranger': 'a fixed number of names in a minute; deleted with the next one',
  'discovery.generation': 'one row for each generation of the index; retired ones are dropped by the builder',
  'discovery.index_process': 'one row for each running process; those of the dead are deleted by the living',
  'index_1.compaction': oneRow,
};

const config = readConfig({ REGISTRY_HISTORY_DAYS: '30', AUDIT_LOG_DAYS: '200' });

describe('retention', () => {
  let database: Database;
  useDatabase((opened) => {
    database = opened;
  });
  const tidyUp = async () => {
    await purgeExpired({ database, config, logger: silentLogger(), now: () => new Date() });
    await purgeChanges(database);
  };
  const count = async (from: string) =>
    Number((await database.query<{ n: number }>(`select count(*) as n from ${from}`)).rows[0]?.n);

  beforeAll(async () => {
    for (const { plant } of Object.values(planted))
      for (const statement of plant.split(';')) await database.query(statement);
    await tidyUp();
  });

  it('is decided for every table', async () => {
    const { rows } = await database.query<{ name: string }>(
      `select schemaname || '.' || tablename as name from pg_tables
       where schemaname in ('work', 'registry', 'catalog', 'discovery', 'index_1', 'console')`,
    );
    const decided = new Set(
      [planted, dependents, bounded].flatMap(Object.keys).map((name) => name.split(' ')[0]),
    );
    expect(rows.map(({ name }) => name).filter((name) => !decided.has(name))).toEqual([]);
    expect(decided.size).toBe(rows.length);
    // Also records whether it may be large: tests/long/idle.test.ts fills those that may.
    expect([...largeTables, ...Object.keys(small)].sort()).toEqual([...decided].sort());
  });

  it('is decided with the columns that the tables have', async () => {
    const home = await createTestDatabase();
    const client = new pg.Client(home.url);
    try {
      await client.connect();
      await fillTables(client, 3);
    } finally {
      await client.end();
      await home.drop();
    }
  });

  it.each(Object.entries(planted))(
    'deletes the rows of %s after their time, and only those',
    async (name, { time, keptDays, needed = 0, where = 'true' }) => {
      const from = `${name.split(' ')[0]} where ${where} and ${time}`;
      const bound = `now() - ${keptDays} * interval '1 day'`;
      expect(await count(`${from} < ${bound}`)).toBe(needed);
      if (keptDays > 0) expect(await count(`${from} > ${bound}`)).toBeGreaterThanOrEqual(keptDays);
    },
  );

  it.each(Object.entries(dependents))('deletes %s with %s', async (dependent, owner) => {
    expect(await count(dependent)).toBe(await count(owner));
  });

  it('still knows what a record of the registry was at the beginning of the kept time', async () => {
    const { rows } = await database.query<{ version: number }>(
      `select version from registry.record_version where recorded_at <= now() - interval '30 days' order by version desc limit 1`,
    );
    expect(rows).toEqual([{ version: 366 - 31 }]);
  });

  it('is done by one of several processes', async () => {
    await database.query("update work.housekeeping set due_at = now() - interval '1 second'");
    const claims = await Promise.all([1, 2, 3, 4].map(() => claimHousekeeping(database, 60_000)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    await database.query("update work.housekeeping set due_at = now() + interval '3 hours'");
    expect(await claimHousekeeping(database, 60_000), 'after the clock was set back').toBe(true);
  });
});
