import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { register as registerStateCommands } from '../../../src/cli/catalog-state.ts';
import { register as registerSyncCommand } from '../../../src/cli/sync.ts';
import { readConfig } from '../../../src/config.ts';
import type { Catalog } from '../../../src/protocol/catalog.ts';
import { readPublishedTree } from '../../../src/publisher/published.ts';
import { placesIn } from '../../../src/publisher/tree.ts';
import { servedFiles } from '../../support/hosted/published-tree.ts';
import { publisherSettings } from '../../support/hosted/publisher.ts';
import {
  type OcpiServer,
  ocpiLocation,
  ocpiTariff,
  startOcpiServer,
} from '../../support/peers/ocpi-server.ts';
import { runCommand } from '../../support/processes/command.ts';
import { publish, type Settings } from '../../support/processes/publish-command.ts';
import { until } from '../../support/time.ts';

// A source is published as signed files, changes, and is published again: only the differences.

let directory: string;
let settings: Settings;
let server: OcpiServer;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'signpost-sync-'));
  settings = { ...(await publisherSettings(join(directory, 'data'))), ALLOW_PRIVATE_ADDRESSES: 'true' };
  writeFileSync(join(directory, 'token'), 'secret\n');
  server = await startOcpiServer();
  server.tariffs = [ocpiTariff('T1', 0.5)];
  server.locations = ['A', 'B', 'C'].map((id) =>
    ocpiLocation(id, { tariff: 'T1', statuses: ['AVAILABLE', 'AVAILABLE'] }),
  );
});
afterEach(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

const sync = (args: string[] = ['--yes'], confirms?: boolean) =>
  runCommand(
    registerSyncCommand,
    ['sync', 'ocpi', server.url, '--token-file', join(directory, 'token'), ...args],
    settings,
    '',
    confirms,
  );
const publishedTree = () => readPublishedTree(readConfig(settings).publisherDir);
const find = async (id: string) => (await publishedTree()).find(`DE*ABC*${id}`);
const files = async () => servedFiles(placesIn(readConfig(settings).publisherDir));
const contentFiles = async () =>
  [...(await files()).keys()].filter((path) => !/index|manifest|subscriber/i.test(path));

async function expectSynced(args?: string[]): Promise<string> {
  const { exitCode, notes, out } = await sync(args);
  expect(exitCode, notes + out).toBe(0);
  return out;
}

describe('signpost sync', () => {
  it('publishes stations with prices and statuses, then nothing, then differences alone', async () => {
    expect(await expectSynced()).toContain('3 catalogs: 3 added, 0 changed, 0 retired, 0 unchanged.');
    const { content } = (await find('A')) ?? {};
    expect([...(content?.resources.values() ?? [])]).toMatchObject([
      { resourceAttributes: { attributes: { availability: { status: 'AVAILABLE' } } } },
      {},
    ]);
    expect([...(content?.offers.values() ?? [])]).toMatchObject([
      {
        id: 'DE*ABC*A:tariff:T1',
        considerations: [{ considerationAttributes: { value: 0.5, unit: 'kWh' } }],
      },
    ]);
    const before = await files();
    expect(await expectSynced()).toContain('0 added, 0 changed, 0 retired, 3 unchanged.');
    expect(await files()).toEqual(before);

    // A repeated, unchanged status causes no change; a different one causes a small change file with one charger.
    const updated = '2026-02-01T08:00:00Z';
    server.locations[1] = ocpiLocation('B', { tariff: 'T1', statuses: ['AVAILABLE', 'AVAILABLE'], updated });
    server.locations[2] = ocpiLocation('C', { tariff: 'T1', statuses: ['AVAILABLE', 'CHARGING'], updated });
    const known = await contentFiles();
    expect(await expectSynced()).toContain('0 added, 1 changed, 0 retired, 2 unchanged.');
    const [change, ...others] = (await contentFiles()).filter((path) => !known.includes(path));
    expect(others).toEqual([]);
    const bytes = (await files()).get(change ?? '');
    expect(bytes?.toString()).toContain('CHARGING');
    expect(bytes?.toString()).not.toContain('DE*ABC*C-1*1');
    const chargers = [...((await find('C'))?.content?.resources.values() ?? [])];
    expect(chargers[1]?.resourceAttributes?.attributes).toMatchObject({
      availability: { status: 'CHARGING', reportedAt: updated },
    });
  });

  it('does what the guide for charging operators says', async () => {
    const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(readFileSync('docs/charging.md', 'utf8')) ?? [];
    const [plan = [], once = [], ...others] = block
      .trim()
      .split('\n')
      .map((line) => line.replace(/^signpost /, '').replace(/ +#.*/, ''))
      .map((line) => line.replace(/https:\S+/, server.url).replace('token.txt', join(directory, 'token')))
      .map((line) => line.split(' '));
    expect((await runCommand(registerSyncCommand, plan, settings)).out).toContain('Nothing was written.');
    const { exitCode, notes } = await runCommand(registerSyncCommand, once, settings, '', true);
    expect(exitCode, notes).toBe(0);
    expect((await publishedTree()).entries.size).toBe(3);
    expect(others).toEqual([[...once, '--watch']]);
  });

  it('publishes a price that changes', async () => {
    await expectSynced();
    server.tariffs = [ocpiTariff('T1', 0.6, '2026-02-01T08:00:00Z')];
    expect(await expectSynced()).toContain('3 changed');
    const [offer] = [...((await find('A'))?.content?.offers.values() ?? [])];
    expect(offer).toMatchObject({ considerations: [{ considerationAttributes: { value: 0.6 } }] });
  });

  it('shows the plan and writes nothing with --dry-run, and asks before it publishes', async () => {
    const { out } = await sync(['--dry-run']);
    expect(out).toContain('added: DE*ABC*A\n');
    expect(out).toContain('Nothing was written.');
    expect((await publishedTree()).entries.size).toBe(0);
    expect((await sync([])).notes).toContain('--yes publishes without asking');
    expect((await sync([], false)).notes).toContain('Nothing was published.');
    expect((await publishedTree()).entries.size).toBe(0);
    expect((await sync([], true)).exitCode).toBe(0);
    expect((await publishedTree()).entries.size).toBe(3);
  });

  it('retires what is gone after the time of grace, or when the person at the terminal says so', async () => {
    await expectSynced();
    const [a, b, c] = server.locations;
    server.locations = [b, c].filter((one) => one !== undefined);
    expect(await expectSynced()).toContain('waiting: DE*ABC*A');
    expect((await find('A'))?.entry.retiredAt).toBeUndefined();
    // It returns within the grace period, so nothing changes.
    server.locations = [a, b, c].filter((one) => one !== undefined);
    expect(await expectSynced()).toContain('0 added, 0 changed, 0 retired, 3 unchanged.');
    server.locations = [b, c].filter((one) => one !== undefined);
    expect(await expectSynced(['--yes', '--grace', '0'])).toContain('retired: DE*ABC*A');
    expect((await find('A'))?.entry.retiredAt).toBeDefined();
    server.locations = [c].filter((one) => one !== undefined);
    const { notes } = await sync([], true);
    expect(notes).toContain('A retired id never comes back.');
    expect((await find('B'))?.entry.retiredAt).toBeDefined();
  });

  it('refuses a source that lacks many stations at once', async () => {
    await expectSynced();
    const before = await files();
    server.locations = server.locations.slice(2);
    const { exitCode, notes } = await sync();
    expect(exitCode).toBe(1);
    expect(notes).toContain('The source lacks 2 stations of 3, more than 20 %: it looks incomplete');
    expect(await files()).toEqual(before);
    expect((await sync(['--yes', '--max-missing', '70'])).exitCode).toBe(0);
  });

  it('keeps pauses and offers that were made by hand, and takes away chargers that are gone', async () => {
    await expectSynced();
    const { id, descriptor, provider } = (await find('A'))?.content?.members ?? ({} as Catalog);
    const offer = { id: 'by-hand', descriptor: { name: 'Night' }, resourceIds: ['DE*ABC*A-1*1'] };
    const file = join(directory, 'offer.json');
    writeFileSync(file, JSON.stringify({ id, descriptor, provider, offers: [offer] }));
    expect((await publish([file, '--mode', 'MERGE'], settings)).exitCode).toBe(0);
    expect((await runCommand(registerStateCommands, ['pause', id], settings)).exitCode).toBe(0);
    server.locations[0] = ocpiLocation('A', {
      tariff: 'T1',
      statuses: ['CHARGING'],
      updated: '2026-02-01T08:00:00Z',
    });
    expect(await expectSynced()).toContain('1 changed');
    const { entry, content } = (await find('A')) ?? {};
    expect(entry?.isActive).toBe(false);
    expect([...(content?.offers.keys() ?? [])].sort()).toEqual(['DE*ABC*A:tariff:T1', 'by-hand']);
    expect([...(content?.resources.keys() ?? [])]).toEqual(['DE*ABC*A-1*1']);
  });

  it('leaves alone what another source publishes', async () => {
    await expectSynced();
    const other = join(directory, 'other.json');
    writeFileSync(other, JSON.stringify([ocpiLocation('A', { name: 'Mine' }), ocpiLocation('Z')]));
    const { notes, out } = await runCommand(registerSyncCommand, ['sync', 'ocpi', other, '--yes'], settings);
    expect(notes).toContain(`left unchanged: DE*ABC*A (ocpi ${server.url})`);
    expect(out).toContain('1 catalog: 1 added');
    expect((await find('A'))?.content?.members.descriptor.name).toBe('Station A');
  });

  it('remembers sources apart whose names look alike or are long, and names a memory that cannot be read', async () => {
    const run = (name: string, id: string, more = {}) => {
      const file = join(directory, `${id}.json`);
      writeFileSync(file, JSON.stringify([ocpiLocation(id, more), ocpiLocation(`${id}2`)]));
      return runCommand(registerSyncCommand, ['sync', 'ocpi', file, '--yes', '--name', name], settings);
    };
    for (const [name, id] of [
      ['North 1', 'A'],
      ['north-1', 'B'],
      [`${'north '.repeat(60)}`, 'C'],
    ] as const)
      expect((await run(name, id)).out).toContain('2 catalogs: 2 added, 0 changed, 0 retired');
    const memories = join(settings.DATA_DIR ?? '', 'sync');
    writeFileSync(join(memories, 'broken.json'), '{');
    expect(await run('North 1', 'A', { name: 'Renamed' })).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('broken.json cannot be read'),
    });
  });

  it('does not read a file again of which everything is published, and reads it for other options', async () => {
    const file = join(directory, 'locations.json');
    const run = (...args: string[]) =>
      runCommand(registerSyncCommand, ['sync', 'ocpi', file, '--yes', ...args], settings);
    writeFileSync(file, JSON.stringify([ocpiLocation('A'), ocpiLocation('B')]));
    expect((await run()).out).toContain('2 added');
    expect((await run()).out).toContain('The source has not changed');
    expect((await run('--keep-doubtful')).out).toContain('2 unchanged');
    writeFileSync(file, JSON.stringify([ocpiLocation('B')]));
    expect((await run()).out).toContain('1 missing');
    // Work remains: missing stations are checked again.
    expect((await run('--grace', '0')).out).toContain('retired: DE*ABC*A');
  });

  it('asks an address for what has changed, and reports a document that cannot be read', async () => {
    const feature = (id: string) => ({
      ...{ type: 'Feature', id, geometry: { type: 'Point', coordinates: [9.19, 48.9] } },
      properties: { operator: 'ABC', 'socket:type2': '1' },
    });
    let document = JSON.stringify([feature('A')]);
    const asked: (string | undefined)[] = [];
    const web = createServer(({ headers }, response) => {
      const etag = `"${document.length}"`;
      asked.push(headers['if-none-match']);
      if (headers['if-none-match'] === etag) response.writeHead(304).end();
      else response.writeHead(200, { etag }).end(document);
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/stations.geojson`;
    const watching = runCommand(registerSyncCommand, ['sync', 'geojson', 'osm', url, '--watch'], {
      ...{ ...settings, SYNC_SECONDS: '1' },
    });
    const untilPublished = (id: string) =>
      until(async () => (await publishedTree()).entries.has(`osm:${id}`), `${id} to be published`);
    await untilPublished('A');
    await until(() => asked.length > 2, 'a round without a change');
    document = '[';
    const before = asked.length;
    await until(() => asked.length > before + 1, 'a round that fails');
    document = JSON.stringify([feature('A'), feature('B')]);
    await untilPublished('B');
    process.emit('SIGINT');
    const { notes } = await watching;
    await new Promise((resolve) => web.close(resolve));
    expect(asked.slice(0, 2)).toEqual([undefined, expect.stringMatching(/^"\d+"$/)]);
    expect(notes).toContain('The source has not changed.');
    expect(notes).toMatch(/Failed, 1 in a row: .* is not accepted as JSON/);
  });

  it('makes a catalog per operator and region when told to', async () => {
    expect(await expectSynced(['--yes', '--per', 'region'])).toContain('added: DE*ABC:deu-71');
    const { resources } = (await (await publishedTree()).find('DE*ABC:deu-71'))?.content ?? {};
    expect(resources?.size).toBe(6);
    expect(resources?.get('DE*ABC*A-1*1')?.resourceAttributes?.attributes).toMatchObject({
      location: { geo: { type: 'Point' } },
    });
  });
});
