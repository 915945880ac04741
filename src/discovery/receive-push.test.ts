import { afterEach, describe, expect, it, vi } from 'vitest';
import { useDatabase } from '../../tests/support/database.ts';
import { gate } from '../../tests/support/gate.ts';
import {
  createParticipant,
  createService,
  listen,
  type RunningServer,
  send,
} from '../../tests/support/signed-service.ts';
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

describe('a push that is refused', () => {
  it('costs the database nothing where nobody has signed it', async () => {
    const transaction = vi.spyOn(database, 'transaction');
    const query = vi.spyOn(database, 'query');
    const over = gate();
    running = await listen((server) => {
      // Of its context, a refusal needs no more than this.
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
