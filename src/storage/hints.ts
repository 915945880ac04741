import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../logger.ts';
import { connectionSettings } from './connection.ts';
import { plainReason } from './first-connection.ts';

// LISTEN and NOTIFY on a separate connection, which reconnects automatically. Hints are sent after their commit, not inside the transaction: a
// transaction with a NOTIFY holds a lock over its whole commit, so such transactions would commit one after the other. Pollers find work whose hint
// is lost with a dying process. Listeners in the same process are woken at once; the others, who only help, by one statement for all hints of a
// moment.

const firstReconnectMs = 100;
const maxReconnectMs = 5_000;
const gatherMs = 20;

type OnHint = (payload: string) => void;

export interface Listening {
  /** Resolves when the database sends hints here: if it is gone, not before it is back. */
  ready: Promise<unknown>;
  /** Does not wait: a process also ends without its database. */
  stop(): void;
}

/** Opens its connection with the first listener or hint. */
export function createHints(url: string, logger: Logger) {
  const listeners = new Map<string, Set<OnHint>>();
  const outbox = new Set<string>();
  const closing = new AbortController();
  let connection: Promise<pg.Client | undefined> | undefined;
  let sending: Promise<void> | undefined;
  let lastStatement: Promise<unknown> = Promise.resolve();

  /** The connection, made again if the last one broke; undefined once closed. */
  function connected(): Promise<pg.Client | undefined> {
    connection ??= reconnect();
    return connection;
  }

  async function reconnect(): Promise<pg.Client | undefined> {
    let waitMs = firstReconnectMs;
    while (!closing.signal.aborted) {
      const client = new pg.Client(connectionSettings(url));
      client.on('error', (error) => logger.debug({ reason: error.message }, 'the hint connection broke'));
      try {
        await client.connect();
        // A hint is worthless after a crash: it does not wait for the disk.
        await client.query('set synchronous_commit = off');
        const ours = (client as { processID?: number | null }).processID;
        client.on('notification', ({ channel, payload, processId }) => {
          if (processId !== ours) wake(channel, payload ?? '');
        });
        for (const channel of listeners.keys()) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
        client.once('end', lost);
        return client;
      } catch (error) {
        logger.debug({ reason: plainReason(error) }, 'cannot listen for hints yet');
        await client.end().catch(() => undefined);
        await delay(waitMs, undefined, { signal: closing.signal }).catch(() => undefined);
        waitMs = Math.min(waitMs * 2, maxReconnectMs);
      }
    }
    return undefined;
  }

  /** Statements use the connection one after the other; without one they are dropped. */
  function ask(text: string, values: unknown[] = []): Promise<unknown> {
    const statement = lastStatement.then(async () => (await connected())?.query(text, values));
    lastStatement = statement.catch((error: Error) =>
      logger.debug({ reason: error.message }, 'a hint was lost'),
    );
    return lastStatement;
  }

  function lost(): void {
    connection = undefined;
    if (closing.signal.aborted || listeners.size === 0) return;
    void connected().then((client) => {
      if (client) for (const channel of listeners.keys()) wake(channel, '');
    });
  }

  function wake(channel: string, payload: string): void {
    for (const onHint of listeners.get(channel) ?? []) onHint(payload);
  }

  /** One statement at a time, each with all hints of a moment. */
  async function sendAll(): Promise<void> {
    while (outbox.size > 0) {
      await delay(gatherMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      const channels = [...outbox];
      outbox.clear();
      await ask("select pg_notify(channel, '') from unnest($1::text[]) as channel", [channels]);
    }
  }

  return {
    listen(channel: string, onHint: OnHint): Listening {
      const others = listeners.get(channel) ?? new Set();
      listeners.set(channel, others.add(onHint));
      return {
        ready: ask(`listen ${pg.escapeIdentifier(channel)}`),
        stop() {
          others.delete(onHint);
          if (others.size > 0 || listeners.get(channel) !== others) return;
          listeners.delete(channel);
          void ask(`unlisten ${pg.escapeIdentifier(channel)}`);
        },
      };
    },

    send(channels: Iterable<string>) {
      for (const channel of channels) {
        outbox.add(channel);
        wake(channel, '');
      }
      if (outbox.size === 0 || sending || closing.signal.aborted) return;
      sending = sendAll().finally(() => {
        sending = undefined;
      });
    },

    async close() {
      // Hints promised after a commit are still sent if there is a connection.
      if (connection) await Promise.race([sending, delay(maxReconnectMs, undefined, { ref: false })]);
      closing.abort();
      const client = await connection;
      client?.removeListener('end', lost);
      await client?.end();
    },
  };
}
