import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { register as registerSyncCommand } from '../../../src/cli/sync.ts';
import { actions } from '../../../src/protocol/actions.ts';
import { placesIn } from '../../../src/publisher/tree.ts';
import type { Body } from '../network/actor.ts';
import { filter } from '../network/discover.ts';
import { startNetwork } from '../network/network.ts';
import { startOcpiServer } from '../peers/ocpi-server.ts';
import { simulateOperator } from '../peers/simulated-operator.ts';
import { runCommand } from '../processes/command.ts';
import { until } from '../time.ts';
import { crawl } from './crawl.ts';
import { servedFiles } from './published-tree.ts';

// A simulated operator → its OCPI endpoint → sync --watch → signed files → a discovery service that crawls them → a consumer.

/** Lets the operator change for `rounds`, then compares the catalog that a consumer finds with the operator's data. */
export async function expectSyncedOperator(given: {
  stations: number;
  rounds: number;
  seed: number;
  timeoutMs: number;
}): Promise<void> {
  const publisherId = 'operator.signpost.test';
  const network = await startNetwork({
    settings: {
      ...{ ROLES: 'registry,discovery,publisher', LOG_LEVEL: 'silent', PUBLISHER_ID: publisherId },
      DISCOVERY_NODES: JSON.stringify([publisherId]),
    },
  });
  const server = await startOcpiServer({ maxLimit: 100 });
  try {
    const operator = simulateOperator(server, given.stations, given.seed);
    const { config, database } = network;
    const token = join(config.DATA_DIR, 'token');
    writeFileSync(token, 'secret');
    const settings = {
      ...{ DATA_DIR: config.DATA_DIR, REGISTRY_URL: config.registryUrl, PUBLISHER_ID: publisherId },
      ...{ ALLOW_PRIVATE_ADDRESSES: 'true', SYNC_SECONDS: '1' },
      PUBLISHER_PORT: String(config.PUBLISHER_PORT),
      PUBLISHER_TRIGGER_PORT: String(config.PUBLISHER_TRIGGER_PORT),
    };
    const sync = (...args: string[]) =>
      runCommand(
        registerSyncCommand,
        ['sync', 'ocpi', server.url, '--token-file', token, '--per', 'region', ...args],
        settings,
      );

    let rounds = 0;
    const { interfere } = server;
    server.interfere = (request, response) => {
      // A round ends with the tariffs; then the operator may change for fifteen seconds.
      const isEnd = request.url?.includes('/tariffs') && rounds < given.rounds;
      if (interfere?.(request, response)) return true;
      if (isEnd) {
        rounds += 1;
        response.once('finish', operator.tick);
      }
      return false;
    };
    const watching = sync('--watch');
    await until(() => rounds === given.rounds, 'the rounds of an hour', given.timeoutMs);
    process.emit('SIGINT');
    const { notes } = await watching;
    expect(notes).toContain('Failed, 1 in a row');

    // The endpoint works again. The next sync reads everything and notices removals.
    server.interfere = undefined;
    const { exitCode, notes: last } = await sync('--yes');
    expect(exitCode, last).toBe(0);
    const consumer = await network.actor('driver');
    await crawl(database, { timeoutMs: given.timeoutMs });
    const found: string[] = [];
    for (let offset = 0; ; offset += pageSize) {
      const message = { ...filter(everyCharger), limit: pageSize, offset };
      const answer = await consumer.send(actions.discover, message, { to: network.discoveryUrl });
      if (answer.status === 202) break;
      const { body } = await consumer.waitFor('on_discover', answer.messageId);
      found.push(...body.message.catalogs.flatMap(chargersOf));
    }
    expect(found.sort()).toEqual(operator.chargers());

    const { exitCode: again, out } = await sync('--yes');
    expect(again).toBe(0);
    expect(out).toContain(' 0 added, 0 changed, 0 retired');
    reportFiles(await servedFiles(placesIn(config.publisherDir)), { ...given, found: found.length });
  } finally {
    await server.close();
    await network.close();
  }
}

const pageSize = 1_000;
const everyCharger = '$.catalogs[*].resources[?@.resourceAttributes.type == "EV_CHARGER"]';

function chargersOf({ resources, offers = [] }: Body): string[] {
  const prices = new Map<string, number>();
  for (const { resourceIds, considerations } of offers)
    for (const id of resourceIds) prices.set(id, considerations[0].considerationAttributes.value);
  return resources.map(({ id, resourceAttributes }: Body) =>
    [id, resourceAttributes.attributes.availability.status, prices.get(id)].join(' '),
  );
}

/** Every version has a reason: its change file differs from the published catalog in more than the time of the report. */
function reportFiles(
  files: ReadonlyMap<string, Buffer>,
  { found, rounds }: { found: number; rounds: number },
): void {
  const documents = [...files]
    .filter(([path]) => /catalogs\/.*\.json(\.gz)?$/.test(path) && !path.startsWith('index'))
    .map(([path, bytes]) => ({
      path,
      bytes: bytes.length,
      document: JSON.parse((path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()) as Body,
    }));
  const changes = documents.filter(({ document }) => document.toVersion !== undefined);
  const baselines = documents.filter(({ document }) => document.toVersion === undefined);
  const catalogIds = new Set(documents.map(({ document }) => document.catalogId as string));
  for (const catalogId of catalogIds) {
    const first = baselines.find(
      ({ document }) => document.catalogId === catalogId && document.version === 1,
    );
    const known = new Map<string, string>(itemsOf(first?.document.catalog ?? {}));
    const own = changes
      .filter(({ document }) => document.catalogId === catalogId)
      .sort((one, other) => one.document.toVersion - other.document.toVersion);
    for (const { path, document } of own) {
      const upserts = itemsOf({ resources: document.resources.upserts, offers: document.offers.upserts });
      const news = upserts.filter(([key, text]) => known.get(key) !== text);
      const removals = document.resources.removals.length + document.offers.removals.length;
      expect(news.length + removals, `${path} has nothing new`).toBeGreaterThan(0);
      expect(news.length, `${path} repeats what is published`).toBe(upserts.length);
      for (const [key, text] of upserts) known.set(key, text);
    }
  }
  const bytesOf = (some: readonly { bytes: number }[]) =>
    Math.round(some.reduce((sum, { bytes }) => sum + bytes, 0) / 1_000);
  console.log(
    `${found} EVSEs, ${rounds} rounds: ${catalogIds.size} catalogs, ${changes.length} change files of ${bytesOf(changes)} kB, ` +
      `${baselines.length} baselines of ${bytesOf(baselines)} kB`,
  );
}

function itemsOf({ resources = [], offers = [] }: Body): [string, string][] {
  const text = (item: Body) =>
    JSON.stringify(item, (name, value) => (name === 'reportedAt' ? undefined : value));
  return [
    ...resources.map((one: Body): [string, string] => [`r:${one.id}`, text(one)]),
    ...offers.map((one: Body): [string, string] => [`o:${one.id}`, text(one)]),
  ];
}
