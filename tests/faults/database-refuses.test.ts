import { afterEach, describe, expect, it } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import { catalog, plain } from '../support/catalogs/sample-catalogs.ts';
import type { Actor, Exchange } from '../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { publish } from '../support/network/publish.ts';
import { until } from '../support/time.ts';
import { asAdmin, createDatabaseOnSmallDisk, mayMount } from './small-disk.ts';

// The database is reachable but temporarily refuses writes. Requests that must be stored are refused with the right code; requests that only read succeed.

let network: TestNetwork | undefined;

afterEach(async () => {
  await network?.close();
  network = undefined;
});

describe('a database that is read-only', () => {
  it('NET_DOWNSTREAM_UNAVAILABLE: a publish is refused with Retry-After, a search is answered, and /ready names the reason', async () => {
    network = await startNetwork();
    const provider = await network.actor('provider');
    expect(await publish(provider, catalog('before'))).toMatchObject({ status: 'ACCEPTED' });
    await setReadOnly('on');
    const refused = await until(async () => {
      const answer = await submit(provider, 'meanwhile');
      return answer.status === 200 ? undefined : answer;
    }, 'the sessions to be new ones');
    expectUnavailable(refused, 'The database is read-only right now; try again later.');
    expect(await readiness()).toMatchObject({
      status: 503,
      body: { ready: false, roles: { catalog: { problem: expect.stringContaining('read-only') } } },
    });
    const { status, body } = await provider.send(actions.search, { filters: { type: 'REGULAR' } });
    expect([status, body.message.catalogs.length > 0]).toEqual([200, true]);
    await setReadOnly('off');
    await until(async () => (await readiness()).status === 200, 'the service to be ready again');
    expect(await publish(provider, catalog('afterwards'))).toMatchObject({ status: 'ACCEPTED' });
  });
});

describe('a database whose disk is full (needs root that may mount one)', () => {
  it.runIf(mayMount)(
    'NET_DOWNSTREAM_UNAVAILABLE: a publish is refused with Retry-After, a search is answered, and /ready names the reason until there is space',
    async () => {
      const { database, fill, empty } = await createDatabaseOnSmallDisk();
      network = await startNetwork({ database });
      const provider = await network.actor('provider');
      expect(await publish(provider, catalog('before'))).toMatchObject({ status: 'ACCEPTED' });
      await fill();
      const refused = await until(async () => {
        const answer = await submit(provider, 'meanwhile');
        return answer.status === 200 ? undefined : answer;
      }, 'the space that the database has in hand to be used up');
      expectUnavailable(refused, 'The database has no space left on its disk right now; try again later.');
      expect(await readiness()).toMatchObject({
        status: 503,
        body: { ready: false, roles: { catalog: { problem: expect.stringContaining('no space left') } } },
      });
      expect((await provider.send(actions.search, { filters: { type: 'REGULAR' } })).status).toBe(200);
      await empty();
      await until(async () => (await readiness()).status === 200, 'the service to be ready again');
      expect(await publish(provider, catalog('afterwards'))).toMatchObject({ status: 'ACCEPTED' });
    },
  );
});

let submitted = 0;

/** Large enough to need additional disk space. */
function submit(as: Actor, id: string): Promise<Exchange> {
  submitted += 1;
  return as.send(actions.publish, {
    catalogs: [catalog(`${id}-${submitted}`, { resources: [plain('large', 'x'.repeat(400_000))] })],
  });
}

function expectUnavailable({ status, body, headers }: Exchange, message: string): void {
  expect({ status, error: body.message.error }).toMatchObject({
    status: 503,
    error: { code: 'NET_DOWNSTREAM_UNAVAILABLE', message },
  });
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
}

async function readiness(): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${network?.catalogUrl}/ready`);
  return { status: answer.status, body: await answer.json() };
}

/** Applies to new sessions; open ones are ended. */
async function setReadOnly(value: 'on' | 'off'): Promise<void> {
  const name = new URL(network?.databaseUrl ?? '').pathname.slice(1);
  await asAdmin(
    `alter database ${name} set default_transaction_read_only = ${value}`,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  );
}
