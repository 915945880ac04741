import { afterEach, describe, expect, it, vi } from 'vitest';
import { useDatabase } from '../../tests/support/database/database.ts';
import { listen, type RunningServer, type Sent, send } from '../../tests/support/network/signed-service.ts';
import { patienceMs } from '../../tests/support/patience.ts';
import type { Database } from '../storage/database.ts';
import { addRegistryRoutes } from './role.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

let running: RunningServer | undefined;
afterEach(() => running?.server.close());

const flood = 150;

describe('a flood of questions to the registry', () => {
  it('from one source holds up no question of another', async () => {
    let arrived = 0;
    running = await listen((server) => {
      server.addHook('onRequest', async () => {
        arrived += 1;
      });
      addRegistryRoutes(server, { database });
    });
    const path = `${running.url}/lookup/nobody.example.org/subscribers.beckn.one/key-1`;
    const ask = (localAddress: string) => send(path, { method: 'GET', localAddress });
    let open = flood;
    const { flooding, answer } = await database.transaction(async (tx) => {
      // Nothing is answered until all have asked.
      await tx.query('lock table registry.participant in access exclusive mode');
      const flooding = Array.from({ length: flood }, () =>
        ask('127.0.0.66').finally(() => {
          open -= 1;
        }),
      );
      await vi.waitFor(() => expect(arrived).toBe(flood), patienceMs);
      const answer = ask('127.0.0.1').then(({ status }) => ({ status, open }));
      await vi.waitFor(() => expect(arrived).toBe(flood + 1), patienceMs);
      return { flooding, answer };
    });
    const answered = await answer;
    expect(answered.status).toBe(404);
    expect(answered.open).toBeGreaterThan(flood / 2);
    await Promise.all(flooding);
  });

  it('gets 503 with Retry-After once more wait than one source may have waiting', async () => {
    running = await listen((server) => addRegistryRoutes(server, { database }));
    const path = `${running.url}/lookup/nobody.example.org/subscribers.beckn.one/key-1`;
    const refused: Sent[] = [];
    const flooding = await database.transaction(async (tx) => {
      await tx.query('lock table registry.participant in access exclusive mode');
      const asked = Array.from({ length: 250 }, async () => {
        const answer = await send(path, { method: 'GET', localAddress: '127.0.0.66' });
        if (answer.status === 503) refused.push(answer);
      });
      await vi.waitFor(() => expect(refused.length).toBeGreaterThanOrEqual(40), patienceMs);
      return asked;
    });
    expect(refused[0]?.json).toMatchObject({ code: 'NET_OVERLOADED' });
    expect(refused[0]?.headers['retry-after']).toBe('2');
    await Promise.all(flooding);
  });
});
