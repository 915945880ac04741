import { afterAll, beforeAll, expect, it } from 'vitest';
import { silentLogger } from '../../src/logger.ts';
import { startProcess } from '../../src/main.ts';
import { appendChange } from '../../src/storage/catalog/change-log.ts';
import { seedCatalog, seedResources } from '../support/catalogs/seed-catalogs.ts';
import { newId, offer, publishCatalog, resource } from '../support/catalogs/small-catalogs.ts';
import { freePort } from '../support/free-port.ts';
import type { Actor } from '../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { allPushed, currentCopies, startReceiver } from '../support/network/receiver.ts';
import { takeTime } from '../support/time.ts';

// Despite any fault on the way, every Discovery Service ends with the latest state of exactly its catalogs.

const retail = 'a.example/retail';
const energy = 'b.example/energy';
const charger = 'https://schema.example.org/Charger/v1/context.jsonld';

const timeoutMs = 60_000;

let network: TestNetwork;
let provider: Actor;

beforeAll(async () => {
  network = await startNetwork();
  provider = await network.actor('provider');
});
afterAll(() => network.close());

it(
  'three with different subscriptions, one down for a while, one answering 429, end with the latest state of exactly their catalogs',
  async () => {
    const [steady, down, busy] = await Promise.all(
      ['steady', 'down', 'busy'].map((name) => startReceiver(network, name)),
    );
    if (!steady || !down || !busy) throw new Error('three were started');
    await steady.subscribe({ networkIds: [retail] });
    await down.subscribe({ networkIds: [energy] });
    await busy.subscribe({ schemaTypes: [charger] });
    const asked = new Map<string, number>();
    busy.answer(({ catalogId }) => {
      const times = (asked.get(catalogId) ?? 0) + 1;
      asked.set(catalogId, times);
      if (times % 3 === 0) return undefined;
      return { status: 429, headers: { 'retry-after': times === 1 ? '1' : '0' } };
    });

    const typed = { '@context': charger, '@type': 'Charger' };
    const ids = Array.from({ length: 6 }, newId);
    const networksOf = (index: number) => [[retail], [energy], [retail, energy]][index % 3] ?? [];
    const isTyped = (index: number) => index >= 3;
    const change = async (id: string, index: number, round: number) => {
      const names = Array.from({ length: 1 + ((index + round) % 4) }, (_, n) => `r${(n + round) % 5}`);
      const directive = {
        visibleTo: networksOf(index),
        updateMode: round % 4 === 3 ? 'FULL' : 'MERGE',
      } as const;
      await publishCatalog(
        provider,
        {
          id,
          resources: names.map((name) => ({
            ...resource(name, `${name} in round ${round}`),
            ...(isTyped(index) && { resourceAttributes: { ...typed, round } }),
          })),
          offers: round % 2 === 0 ? [offer(`o${round}`)] : [],
        },
        directive,
      );
    };
    for (let round = 0; round < 7; round += 1) {
      if (round === 2) await down.actor.stop();
      if (round === 5) await down.actor.listen();
      await Promise.all(ids.map((id, index) => change(id, index, round)));
      await takeTime(50);
    }
    await allPushed(network, timeoutMs);

    const theirs = (wanted: (index: number) => boolean) => ids.filter((_, index) => wanted(index));
    const sorted = (copies: Map<string, unknown>) => Object.fromEntries([...copies].sort());
    const expectations = [
      [steady, theirs((index) => networksOf(index).includes(retail))],
      [down, theirs((index) => networksOf(index).includes(energy))],
      [busy, theirs(isTyped)],
    ] as const;
    for (const [receiver, catalogIds] of expectations) {
      expect(sorted(receiver.copies)).toEqual(sorted(await currentCopies(network, catalogIds)));
      expect(receiver.pushes.every(({ visibleTo }) => visibleTo.length > 0)).toBe(true);
    }
  },
  timeoutMs,
);

it(
  'a catalog of more than 10 MB goes in parts of one version, back to back, and changes meanwhile follow',
  async () => {
    const receiver = await startReceiver(network, 'large');
    await receiver.subscribe({ networkIds: ['c.example/large'] });
    const id = newId();
    const count = 25_000;
    await seedCatalog(network.database, {
      id,
      visibleTo: ['c.example/large'],
      offers: [offer('o1')],
    });
    await seedResources(network.database, id, { count, bytes: 1_000 });
    const change = (statement = 'select $1::bigint, $2::int') =>
      network.database.transaction(async (tx) => {
        const { rows } = await tx.query<{ key: number; version: number }>(
          'update catalog.catalog set version = version + 1 where id = $1 returning key, version',
          [id],
        );
        const { key: catalogKey = 0, version = 0 } = rows[0] ?? {};
        await tx.query(statement, [catalogKey, version]);
        const publisher = 'provider.signpost.test/subscribers.beckn.one';
        await appendChange(tx, {
          catalogKey,
          version,
          publisher,
          kind: 'merge',
          at: new Date(),
          details: '{}',
        });
      });
    let changed = false;
    receiver.answer(async ({ updateMode }) => {
      if (updateMode === 'FULL' && !changed) {
        changed = true;
        await change(
          `update catalog.resource set changed_version = $2, own = json_build_object('id', id, 'changed', true)
         where catalog_key = $1 and id in ('r1', 'r9999')`,
        );
      }
      return undefined;
    });
    await change();
    await allPushed(network, timeoutMs);

    const [first, ...others] = receiver.pushes;
    const merge = others.at(-1);
    const parts = [first, ...others.slice(0, -1)];
    expect(parts.length).toBe(3);
    expect(parts.map((part) => part?.updateMode)).toEqual(['FULL', 'MERGE', 'MERGE']);
    expect(parts.every((part) => (part?.received.raw.length ?? 0) <= 10 * 1024 * 1024)).toBe(true);
    expect(parts.flatMap((part) => part?.resourceIds ?? [])).toHaveLength(count);
    const texts = parts.map((part) => part?.received.raw.toString());
    expect(texts.some((text) => text?.includes('"changed"'))).toBe(false);
    expect(merge).toMatchObject({ updateMode: 'MERGE', resourceIds: ['r1', 'r9999'] });
    expect(receiver.copies.get(id)).toEqual((await currentCopies(network, [id])).get(id));
  },
  timeoutMs,
);

it('two processes of the service share the work: every push comes once, and never more than 4 at a time', async () => {
  const receiver = await startReceiver(network, 'shared');
  await receiver.subscribe({ networkIds: ['d.example/shared'] });
  const second = await startProcess(
    { ...network.config, roles: ['catalog'], CATALOG_PORT: await freePort() },
    { logger: silentLogger() },
  );
  try {
    let underWay = 0;
    let most = 0;
    receiver.answer(async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await takeTime(20);
      underWay -= 1;
      return undefined;
    });
    const ids = Array.from({ length: 30 }, newId);
    await Promise.all(
      ids.map((id) =>
        publishCatalog(provider, { id, resources: [resource('r1')] }, { visibleTo: ['d.example/shared'] }),
      ),
    );
    await allPushed(network, timeoutMs);
    expect(receiver.pushes.map(({ catalogId }) => catalogId).sort()).toEqual([...ids].sort());
    expect(most).toBeLessThanOrEqual(4);
  } finally {
    await second.close();
  }
});
