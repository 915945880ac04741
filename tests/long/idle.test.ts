import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/logger.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/storage/embedded/postgres.ts';
import { fillTables } from '../support/database/large-tables.ts';
import { timers } from '../support/database/timers.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { makeDataDir } from '../support/processes/up-process.ts';
import { until } from '../support/time.ts';

// The cost of idle processes must not depend on the number of catalogs. All roles run on 100,000 catalogs, PostgreSQL logs the plan of every
// statement, and a statement of every timer must occur (support/timers.ts).

/** Rows of a large table. */
const largeRows = 10_000;
/** The maximum of rows that a step of the compaction reads. All other statements read far fewer. */
const mostRead = 20_000;

/** Statements at the start: they adapt stored rows to the settings of the process. */
const atStart =
  /^update discovery.crawl_node as node set (named|configured_url)|^select id, schema_types .* from catalog.subscription/;

describe('roles with 100,000 catalogs and nothing to do', () => {
  let home: Awaited<ReturnType<typeof makeDataDir>>;
  let server: EmbeddedPostgres;
  let network: TestNetwork;
  let admin: pg.Client;
  let log: PlanLog;

  beforeAll(async () => {
    home = await makeDataDir();
    server = await startEmbeddedPostgres({
      dataDir: home.dataDir,
      logger: silentLogger(),
      settings: {
        ...explainer,
        fsync: 'off',
        full_page_writes: 'off',
        max_wal_size: '4GB',
        autovacuum: 'off',
      },
    });
    network = await startNetwork({
      database: { url: server.url, drop: async () => undefined },
      // A service without nodes to crawl would forget all nodes. Nothing listens at this address.
      settings: { ROLES: 'all', DISCOVERY_NODES: '["http://127.0.0.1:9"]' },
    });
    admin = new pg.Client(server.url);
    await admin.connect();
    await network.restart(async () => {
      await fillTables(admin, 100_000);
      // Makes the work of the first start due again.
      await admin.query(
        `update work.housekeeping set due_at = now(); delete from console.minute where process = ''`,
      );
      log = openPlanLog(join(home.dataDir, 'postgres', 'server.log'));
      // For all new connections.
      await admin.query(`alter database ${admin.database} set auto_explain.log_min_duration = 0`);
    });
  });
  afterAll(async () => {
    await network?.close();
    await admin?.end();
    await server?.close();
    log?.close();
    await home?.remove();
  });

  it('read no large table, whatever their timers do', async () => {
    const { config } = network;
    const page = new AbortController();
    await fetch(`${network.catalogUrl}/metrics`);
    const events = await fetch(`${config.consoleUrl}/api/events`, { signal: page.signal });
    const missing = Object.values(timers)
      .flat()
      .filter((kind) => kind instanceof RegExp);
    await until(() => {
      for (const { text } of log.read())
        for (const kind of missing.filter((kind) => kind.test(text)))
          missing.splice(missing.indexOf(kind), 1);
      return missing.length === 0;
    }, 'a statement of every timer').catch((error: Error) => {
      throw new Error(`${error.message}, namely as ${missing.join(' and ')}`);
    });
    page.abort();
    await events.body?.cancel().catch(() => undefined);
    const { rows } = await admin.query<{ name: string }>(
      `select relnamespace::regnamespace || '.' || relname as name from pg_class where relkind = 'r' and reltuples > ${largeRows}`,
    );
    const large = new Set(rows.map(({ name }) => name));
    const statements = log.all.filter(({ text }) => !atStart.test(text));
    expect([...new Set(statements.flatMap((one) => faultsOf(one, large)))]).toEqual([]);
  });
});

const explainer = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '-1',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_verbose': 'on',
  'auto_explain.log_format': 'json',
  'auto_explain.log_nested_statements': 'on',
};

interface Statement {
  /** On one line. */
  text: string;
  plan: PlanNode;
}

interface PlanNode {
  'Node Type': string;
  Schema?: string;
  'Relation Name'?: string;
  Filter?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

/** The statements that the server has logged since this was opened. */
interface PlanLog {
  all: Statement[];
  /** New statements since the last call. */
  read(): Statement[];
  close(): void;
}

function openPlanLog(file: string): PlanLog {
  const descriptor = openSync(file, 'r');
  let offset = fstatSync(descriptor).size;
  /** A message whose end has not been written yet. */
  let begun = '';
  const all: Statement[] = [];
  return {
    all,
    read() {
      const bytes = Buffer.alloc(fstatSync(descriptor).size - offset);
      offset += readSync(descriptor, bytes, 0, bytes.length, offset);
      const messages = (begun + bytes.toString('latin1')).split(/(?<=^\t}\n)/m);
      begun = messages.pop() ?? '';
      const read = messages.map((message) => JSON.parse(message.slice(message.indexOf(' plan:\n') + 7)));
      const statements = read.map((entry) => ({
        text: entry['Query Text'].replace(/\s+/g, ' ').trim(),
        plan: entry.Plan,
      }));
      all.push(...statements);
      return statements;
    },
    close: () => closeSync(descriptor),
  };
}

/** As sentences, one for each scan that reads a large table, or as many rows as a large table has. */
function faultsOf({ text, plan }: Statement, large: ReadonlySet<string>): string[] {
  const faults: string[] = [];
  const visit = (node: PlanNode, parent?: PlanNode) => {
    const table = `${node.Schema}.${node['Relation Name']}`;
    const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Index Recheck': rechecked = 0 } = node;
    const read = (node['Actual Rows'] + filtered + rechecked) * node['Actual Loops'];
    // Below a limit, and without a filter, it stops after that many rows.
    const isBounded = node['Actual Loops'] === 0 || (parent?.['Node Type'] === 'Limit' && !node.Filter);
    const isWhole = node['Node Type'] === 'Seq Scan' && large.has(table) && !isBounded;
    if (/ Scan$/.test(node['Node Type']) && (isWhole || read > mostRead))
      faults.push(`${node['Node Type']} of ${table}, ${read} rows: ${text}`);
    for (const child of node.Plans ?? []) visit(child, node);
  };
  visit(plan);
  return faults;
}
