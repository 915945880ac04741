import { afterEach, describe, expect, it, vi } from 'vitest';
import { catalog } from '../../tests/support/catalogs/sample-catalogs.ts';
import { sampleContext } from '../../tests/support/catalogs/sample-messages.ts';
import { useDatabase } from '../../tests/support/database/database.ts';
import { gate } from '../../tests/support/gate.ts';
import {
  createParticipant,
  createService,
  findKeyAmong,
  listen,
  type RunningServer,
  send,
  sendSigned,
} from '../../tests/support/network/signed-service.ts';
import { readConfig } from '../config.ts';
import { silentLogger } from '../logger.ts';
import { actions } from '../protocol/actions.ts';
import type { Database } from '../storage/database.ts';
import type { DiscoveryContext } from './context.ts';
import { createPushAside } from './push-aside.ts';
import { addPushRoute } from './receive-push.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

let running: RunningServer | undefined;
afterEach(() => running?.server.close());

describe('a small push', () => {
  it('is applied in a thread: the main thread asks the database for nothing', async () => {
    const transaction = vi.spyOn(database, 'transaction');
    const query = vi.spyOn(database, 'query');
    const pusher = createParticipant('pusher.example');
    const context = { database, logger: silentLogger(), config: readConfig({}) } as DiscoveryContext;
    const aside = createPushAside(context);
    running = await listen((server) => {
      const service = createService(createParticipant('discovery.example'), {
        findKey: findKeyAmong([pusher]),
      });
      addPushRoute(server, service, context, aside);
    });
    try {
      const body = JSON.stringify({
        context: {
          ...sampleContext(actions.push),
          bppId: pusher.subscriberId,
          timestamp: new Date().toISOString(),
        },
        message: { catalogs: [catalog('c', { resources: [] })] },
      });
      const { status, json } = await sendSigned(`${running.url}${actions.push.path}`, { from: pusher, body });
      // Nobody has subscribed, which only the database knows.
      expect({ status, code: json.message?.error?.code }).toEqual({
        status: 202,
        code: 'BIZ_NO_RESULTS_FOUND',
      });
      const { rows } = await database.apart.query('select url, status from work.request');
      expect(rows).toEqual([{ url: actions.push.path, status: 202 }]);
      expect([transaction.mock.calls.length, query.mock.calls.length]).toEqual([0, 0]);
    } finally {
      await aside.close();
    }
  });
});

describe('a push that is refused', () => {
  it('costs the database nothing where nobody has signed it', async () => {
    const transaction = vi.spyOn(database, 'transaction');
    const query = vi.spyOn(database, 'query');
    const over = gate();
    running = await listen((server) => {
      // A refusal needs only this part of the context.
      const context = { database, logger: silentLogger(), config: {} } as DiscoveryContext;
      const service = createService(createParticipant('discovery.example'));
      addPushRoute(server, service, context, createPushAside(context));
      // Hooks run in the order in which they were added.
      server.addHook('onResponse', async () => over.open());
    });
    const { status } = await send(`${running.url}${actions.push.path}`, { body: '{}' });
    await over.passed;
    expect({ status, transactions: transaction.mock.calls.length, queries: query.mock.calls.length }).toEqual(
      {
        ...{ status: 401, transactions: 0, queries: 0 },
      },
    );
  });
});
