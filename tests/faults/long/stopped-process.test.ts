import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import pg from 'pg';
import { describe, expect, it, type TestContext } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import { connectionSettings } from '../../../src/storage/connection.ts';
import { catalog } from '../../support/catalogs/sample-catalogs.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { freePort } from '../../support/free-port.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { publish, submit } from '../../support/network/publish.ts';
import { type ServiceProcess, startCatalogProcess } from '../../support/processes/service-process.ts';
import { takeTime, until, watchFor } from '../../support/time.ts';

// A suspended process (SIGSTOP, a suspended machine) keeps its connections, its leases and the locks of its open transactions. Another one takes over
// its work within 30 s, and the first one writes nothing when it continues. The tests wait for leases and time-outs to end, so they run concurrently.

const takeoverMs = 30_000;

describe.concurrent('a process that is stopped', () => {
  it('in the midst of a transaction loses its work to another one within 30 s, and adds nothing when it goes on', async (context) => {
    const { network, stopped, startAnother } = await startStopped(context);
    const provider = await network.actor('provider');
    const id = `held-${randomUUID()}`;
    const holder = new pg.Client(network.databaseUrl);
    await holder.connect();
    try {
      // The catalog's lock: the process waits for it in a transaction.
      await holder.query(`begin; select pg_advisory_xact_lock(hashtextextended('catalog ${id}', 0))`);
      const messageId = await submit(provider, catalog(id));
      await until(async () => {
        const { rowCount } = await network.database.query(
          `select from pg_stat_activity where datname = current_database() and application_name = 'signpost'
               and wait_event_type = 'Lock' and wait_event = 'advisory'`,
        );
        return rowCount > 0;
      }, 'the process to be in its transaction');
      await startAnother();
      stopped.halt();
      const stoppedAt = performance.now();
      await holder.query('rollback');

      await provider.waitFor('catalog/on_publish', messageId, 2 * takeoverMs);
      expect(performance.now() - stoppedAt).toBeLessThan(takeoverMs);

      stopped.goOn();
      await until(() => stopped.log.some((line) => /lost/.test(line)), 'it to notice');
      await watchFor(1_000);
      const { rows } = await network.database.query(
        `select (select count(*) from catalog.submission_result) as results, (select count(*) from catalog.change_log) as changes,
             (select count(*) from work.callback) as callbacks`,
      );
      expect(rows).toEqual([{ results: 1, changes: 1, callbacks: 1 }]);
    } finally {
      await holder.end();
    }
  });

  it('with several publishes of one publisher in its hands holds up another one for 30 s at most', async (context) => {
    const { network, stopped, startAnother } = await startStopped(context);
    const provider = await network.actor('provider');
    const another = await startAnother();
    await publish(provider, catalog(`first-${randomUUID()}`));
    const contexts = Array.from({ length: 4 }, () => ({
      ...{ messageId: randomUUID(), transactionId: randomUUID(), timestamp: new Date().toISOString() },
    }));
    const send = (each: (typeof contexts)[number], to: string) =>
      provider.send(actions.publish, { catalogs: [catalog(each.messageId)] }, { to, context: each });
    const holder = new pg.Client(network.databaseUrl);
    await holder.connect();
    try {
      // The publisher's lane: every publish waits for it in a transaction.
      await holder.query('begin; select from catalog.lane for update');
      for (const each of contexts) send(each, stopped.url).catch(() => undefined);
      await until(async () => {
        const { rowCount } = await network.database.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'insert into catalog.lane%'`,
        );
        return rowCount > 0;
      }, 'a publish to wait');
      await takeTime(500);
      stopped.halt();
      const stoppedAt = performance.now();
      await holder.query('rollback');
      const answers = await Promise.all(contexts.map((each) => send(each, another.url)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(performance.now() - stoppedAt).toBeLessThan(takeoverMs);
    } finally {
      await holder.end();
    }
  });

  it('in the midst of a delivery loses it to another one within 30 s, and does not record its own answer', async (context) => {
    const { network, stopped, startAnother } = await startStopped(context);
    const provider = await network.actor('provider');
    const attempts: Buffer[] = [];
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    provider.behave(async ({ raw }) => {
      attempts.push(raw);
      if (attempts.length > 1) return undefined;
      await answered;
      return { status: 400 };
    });
    await submit(provider, catalog(`delivered-${randomUUID()}`));
    await until(() => attempts.length === 1, 'the delivery to begin');
    await startAnother();
    stopped.halt();
    const stoppedAt = performance.now();
    await until(() => isDelivered(network), 'the delivery by another process', 2 * takeoverMs);
    expect(performance.now() - stoppedAt).toBeLessThan(takeoverMs);
    expect(attempts[1]?.equals(attempts[0] ?? Buffer.alloc(0))).toBe(true);

    answer();
    stopped.goOn();
    // It notices when it records the answer, or when it renews its lease, which ends the delivery, whichever is first.
    const hasNoticed = () => stopped.log.some((line) => /was lost|will be tried again/.test(line));
    await until(hasNoticed, 'it to notice');
    expect(await isDelivered(network)).toBe(true);
  });
});

describe.concurrent('a client of PostgreSQL', () => {
  it.skipIf(process.platform !== 'linux')(
    'that reads nothing of a large answer loses its transaction, with its locks, within 30 s (needs Linux)',
    async ({ onTestFinished }) => {
      const home = await createTestDatabase();
      onTestFinished(home.drop);
      const silent = new pg.Client(connectionSettings(home.url));
      silent.on('error', () => undefined);
      await silent.connect();
      await silent.query('begin; select pg_advisory_xact_lock(4711)');
      const answer = silent
        .query("select repeat('x', 1000000) from generate_series(1, 300)")
        .catch(() => 'cut off');
      const { stream } = (silent as unknown as { connection: { stream: Socket } }).connection;
      stream.pause();
      const takenAfter = performance.now();
      const next = new pg.Client(home.url);
      await next.connect();
      await next.query('select pg_advisory_lock(4711), pg_advisory_unlock(4711)').finally(() => next.end());
      expect(performance.now() - takenAfter).toBeLessThan(takeoverMs);
      stream.destroy();
      expect(await answer).toBe('cut off');
    },
  );
});

/** A catalog service to be stopped, on a separate network, and a function that starts another process of it. */
async function startStopped({ onTestFinished }: TestContext) {
  const network = await startNetwork({ settings: { ROLES: 'registry' } });
  onTestFinished(network.close);
  const start = async (settings?: Record<string, string>): Promise<ServiceProcess> => {
    const service = await startCatalogProcess(network, settings);
    onTestFinished(service.kill);
    return service;
  };
  return {
    network,
    stopped: await start(),
    startAnother: async () => start({ CATALOG_PORT: String(await freePort()) }),
  };
}

async function isDelivered({ database }: TestNetwork): Promise<boolean> {
  const { rows } = await database.query<{ state: string }>('select state from work.callback');
  return rows.length === 1 && rows[0]?.state === 'delivered';
}
