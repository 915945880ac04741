import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { register as registerStateCommands } from '../../../src/cli/catalog-state.ts';
import { register as registerImportCommand } from '../../../src/cli/import.ts';
import { readConfig } from '../../../src/config.ts';
import { readPublishedTree } from '../../../src/publisher/published.ts';
import { placesIn } from '../../../src/publisher/tree.ts';
import { servedFiles } from '../../support/hosted/published-tree.ts';
import { publisherSettings, startPublisher, type TestPublisher } from '../../support/hosted/publisher.ts';
import { runCommand } from '../../support/processes/command.ts';
import { publish, type Settings } from '../../support/processes/publish-command.ts';

// A list is imported and published, its operator makes a change, and a new edition of the list is imported.

let directory: string;
let settings: Settings;
let running: TestPublisher | undefined;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'signpost-import-again-'));
  settings = await publisherSettings(join(directory, 'data'));
});
afterEach(async () => {
  await running?.close();
  running = undefined;
  rmSync(directory, { recursive: true, force: true });
});

const header = 'id,operator,latitude,longitude,country,status,connectors';
const row = (id: string, status: string, ...types: string[]) => {
  const connectors = JSON.stringify(types.map((type) => ({ type }))).replaceAll('"', '""');
  return `${id},Voltpath,12.97,77.64,IN,${status},"${connectors}"`;
};

function importing(args: string[], ...rows: string[]) {
  const stdin = [header, ...rows].join('\n');
  return runCommand(registerImportCommand, ['import', 'csv', 'stations', '-', ...args], settings, stdin);
}

async function importAndPublish(...rows: string[]): Promise<string> {
  const { out, notes, exitCode } = await importing([], ...rows);
  expect(exitCode, notes).toBe(0);
  expect(await publish(['-'], settings, out)).toMatchObject({ exitCode: 0 });
  return notes;
}

/** An offer that the operator adds to a published catalog. */
async function addOffer(catalogId: string, name: string): Promise<void> {
  const offer = { id: `${catalogId}/night`, descriptor: { name }, resourceIds: [`${catalogId}-1`] };
  const published = (await publishedTree().then((tree) => tree.find(catalogId)))?.content;
  const file = join(directory, 'offer.json');
  const { id, descriptor, provider } = published?.members ?? {};
  writeFileSync(file, JSON.stringify({ id, descriptor, provider, offers: [offer] }));
  const run = await publish([file, '--mode', 'MERGE'], settings);
  expect(run.exitCode, run.notes + run.out).toBe(0);
}

async function pause(id: string): Promise<void> {
  expect((await runCommand(registerStateCommands, ['pause', id], settings)).exitCode).toBe(0);
}

const publishedTree = () => readPublishedTree(readConfig(settings).publisherDir);

/** The published catalogs: whether each is active, its chargers, its offers, and whether the catalog itself says that it is inactive. */
async function published() {
  const tree = await publishedTree();
  const states: Record<string, unknown> = {};
  for (const id of tree.entries.keys()) {
    const { entry, content } = (await tree.find(id)) ?? {};
    states[id] = {
      isActive: entry?.isActive,
      says: content?.members.isActive,
      chargers: content?.resources.size,
      offers: [...(content?.offers.keys() ?? [])],
    };
  }
  return states;
}

describe.each([
  ['where no publisher runs', false],
  ['through the publisher that runs', true],
])('a new edition of a list, published %s', (_, isRunning) => {
  beforeEach(async () => {
    if (!isRunning) return;
    running = await startPublisher({ DATA_DIR: join(directory, 'data') });
    settings = running.settings;
  });

  it('keeps the offers that its operator has added, and what the list no longer has goes', async () => {
    await importAndPublish(row('S1', 'In service', 'CCS2', 'Type2'), row('S2', 'In service', 'CCS2'));
    await addOffer('S1', 'Night tariff');
    const notes = await importAndPublish(row('S1', 'In service', 'CCS2'), row('S2', 'In service', 'CCS2'));
    expect(notes).toContain('Kept from the published catalogs: 1 offer of 1 catalog.');
    expect(await published()).toEqual({
      S1: { isActive: true, chargers: 1, offers: ['S1/night'] },
      S2: { isActive: true, chargers: 1, offers: [] },
    });
  });

  it('leaves a paused catalog paused, whatever the list says of it, until it is resumed', async () => {
    await importAndPublish(row('S1', 'In service', 'CCS2'));
    await pause('S1');
    for (const status of ['In service', 'Out of service', 'In service']) {
      const notes = await importAndPublish(row('S1', status, 'CCS2', 'Type2'));
      expect(notes).toContain('Still paused: S1.');
      expect(await published()).toEqual({ S1: { isActive: false, chargers: 2, offers: [] } });
    }
    await runCommand(registerStateCommands, ['resume', 'S1'], settings);
    expect(await published()).toMatchObject({ S1: { isActive: true } });
  });
});

describe('a new edition of a list', () => {
  it('makes a station inactive while the list says that it is out of use', async () => {
    await importAndPublish(row('S1', 'Out of service', 'CCS2'));
    expect(await published()).toMatchObject({ S1: { isActive: false, says: false } });
    await importAndPublish(row('S1', 'In service', 'CCS2'));
    expect(await published()).toMatchObject({ S1: { isActive: true, says: undefined } });
  });

  it('does not make active what its operator paused while the list said that it is out of use', async () => {
    await importAndPublish(row('S1', 'Out of service', 'CCS2'));
    await pause('S1');
    await importAndPublish(row('S1', 'In service', 'CCS2'));
    expect(await published()).toMatchObject({ S1: { isActive: false } });
  });

  it('shows with --dry-run what a publish would change, and writes nothing', async () => {
    const first = await importing(['--dry-run'], row('S1', 'In service', 'CCS2'));
    expect(first.out).toBe(
      'S1: new: 1 resource added\nA publish would have 1 catalog: 1 new, 0 changed, 0 unchanged, 0 refused. Nothing was written.\n',
    );
    await importAndPublish(
      ...['S1', 'S2', 'S3', 'S4', 'S5'].map((id) => row(id, 'In service', 'CCS2', 'Type2')),
    );
    await addOffer('S1', 'Night tariff');
    await pause('S2');
    await publish(['-'], settings, JSON.stringify({ retire: ['S4'] }));
    const before = await files();
    const edition = [
      row('S1', 'Out of service', 'CHAdeMO', 'Type2', 'NACS'),
      row('S2', 'Out of service', 'CCS2'),
      row('S3', 'In service', 'CCS2', 'Type2'),
      row('S4', 'In service', 'CCS2'),
      row('S6', 'In service', 'CCS2'),
    ];
    const { exitCode, out } = await importing(['--dry-run'], ...edition);
    expect(exitCode).toBe(0);
    expect(out.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^S4: refused, because it was retired at \d{4}-/),
      'S1: changed: 1 resource added, 1 resource changed, becomes inactive',
      'S2: changed: 1 resource removed',
      'S6: new: 1 resource added',
      'A publish would have 5 catalogs: 1 new, 2 changed, 1 unchanged, 1 refused. Nothing was written.',
      'Published but not in this list, left unchanged: S5. "signpost retire" ends a catalog permanently.',
    ]);
    expect(await files()).toEqual(before);

    await publish(['-'], settings, (await importing([], ...edition.filter((_, at) => at !== 3))).out);
    expect(await published()).toMatchObject({
      S1: { isActive: false, chargers: 3, offers: ['S1/night'] },
      S2: { isActive: false, says: undefined, chargers: 1 },
      S6: { isActive: true },
    });
  });

  it('tells for which networks a catalog would be from now on', async () => {
    await importAndPublish(row('S1', 'In service', 'CCS2'));
    const { out } = await importing(
      ['--dry-run', '--network', 'example.org/ev'],
      row('S1', 'In service', 'CCS2'),
    );
    expect(out).toContain('S1: changed: for example.org/ev\n');
  });

  it('is not imported over a tree that cannot be read, and --dry-run has no use for --out', async () => {
    await importAndPublish(row('S1', 'In service', 'CCS2'));
    const { root } = placesIn(readConfig(settings).publisherDir);
    writeFileSync(join(root, 'index/catalogs.index.json'), '{');
    const { exitCode, out, notes } = await importing([], row('S1', 'In service', 'CCS2'));
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' });
    expect(notes).toContain('index/catalogs.index.json cannot be read as an index.');
    const both = await importing(['--dry-run', '--out', join(directory, 'o')], row('S1', '', 'CCS2'));
    expect(both).toMatchObject({ exitCode: 1, notes: expect.stringContaining("'--dry-run'") });
  });
});

async function files(): Promise<string[]> {
  return [...(await servedFiles(placesIn(readConfig(settings).publisherDir)))].map(
    ([path, bytes]) => `${path} ${bytes.toString('base64')}`,
  );
}
