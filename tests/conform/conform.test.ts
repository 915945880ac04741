import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogChecks } from '../../src/conform/catalog-checks.ts';
import type { CheckResult } from '../../src/conform/check.ts';
import { crawlChecks } from '../../src/conform/crawl-checks.ts';
import { discoveryChecks } from '../../src/conform/discovery-checks.ts';
import { treeChecks } from '../../src/conform/tree-checks.ts';
import { catalogFaults } from '../support/conform/catalog-faults.ts';
import { asker, type ConformScene, elsewhere, startConformScene } from '../support/conform/conform-scene.ts';
import { crawlFaults } from '../support/conform/crawl-faults.ts';
import { discoveryFaults } from '../support/conform/discovery-faults.ts';
import { downloadFaults } from '../support/conform/pull-faults.ts';
import type { PlantedFault } from '../support/conform/request-faults.ts';
import { treeFaults, unsignedIndex } from '../support/conform/tree-faults.ts';

// `signpost conform`: our own services and files pass, and each planted fault is found by its check. Here many faults of services are planted at a
// time; `npm run test:long` plants each alone, including those that would hide others: a missing callback or push. The checks of crawling are in
// crawl.test.ts: here the calling identity hosts no files.

const roles = {
  catalog: { checks: catalogChecks, faults: [...catalogFaults, ...downloadFaults] },
  discovery: { checks: discoveryChecks, faults: [...discoveryFaults, ...crawlFaults] },
  tree: { checks: treeChecks, faults: treeFaults },
} as const;

describe('the checks of signpost conform', () => {
  it.each(Object.entries(roles))(
    'of the role %s have names of their own, and a planted fault each',
    (_role, one) => {
      const names = one.checks.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      expect(one.faults.map(({ check }) => check).sort()).toEqual([...names].sort());
    },
  );

  it('are listed in CONFORMANCE.md with their clauses and faults', () => {
    const rows = readFileSync('CONFORMANCE.md', 'utf8')
      .split('\n')
      .flatMap((line) => /^\| (.+) \| `([a-z-]+)` \| (.+) \|$/.exec(line)?.slice(1, 4).join(' | ') ?? []);
    const expected = Object.values(roles).flatMap(({ checks, faults }) =>
      checks.map(({ name, clause }) =>
        [clause, name, faults.find(({ check }) => check === name)?.what].join(' | '),
      ),
    );
    expect(rows).toEqual(expected);
  });
});

describe('signpost conform', () => {
  let scene: ConformScene;
  beforeAll(async () => {
    scene = await startConformScene();
  });
  afterAll(() => scene?.close());

  it('passes our catalog service, and leaves nothing active behind', async () => {
    const { exitCode, failed, skipped, actual } = await scene.check('catalog');
    expect({ exitCode, failed, skipped, actual }).toMatchObject({
      exitCode: 0,
      failed: [],
      skipped: onlyDownloads,
    });
    const { database } = scene.discovering.network;
    const { rows: left } = await database.query(
      "select id from catalog.catalog where id like 'conform-%' and coalesce(head ->> 'isActive', 'true') = 'true'",
    );
    const { rows: subscribed } = await database.query(
      "select id from catalog.subscription where status = 'ACTIVE' and owner like 'checker.%'",
    );
    expect({ left, subscribed }).toEqual({ left: [], subscribed: [] });
  });

  it('passes our discovery service, and leaves crawling out for an identity without an address', async () => {
    const { exitCode, failed, skipped, actual } = await scene.check('discovery');
    expect({ exitCode, failed, skipped }).toEqual({ exitCode: 0, failed: [], skipped: crawlNames });
    expect(actual['crawl-finds']).toMatch(/has no address in the registry/);
  });

  it('passes the tree of our publisher', async () => {
    const { exitCode, failed, skipped } = await scene.checkTree();
    expect({ exitCode, failed, skipped }).toEqual({ exitCode: 0, failed: [], skipped: [] });
  });

  it.each([1, 2] as const)(
    'finds the faults of group %i in a catalog service, and no others',
    async (group) => {
      const faults = catalogFaults.filter((fault) => fault.group === group);
      const { exitCode, failed, actual } = await scene.check('catalog', faults);
      expect({ exitCode, failed: failed.sort(), actual }).toMatchObject({
        exitCode: 1,
        failed: namesOf(faults),
      });
    },
  );

  it.each([1, 2] as const)(
    'finds the faults of group %i in a discovery service, and no others',
    async (group) => {
      const faults = discoveryFaults.filter((fault) => fault.group === group);
      const { exitCode, failed, actual } = await scene.check('discovery', faults);
      expect({ exitCode, failed: failed.sort(), actual }).toMatchObject({
        exitCode: 1,
        failed: namesOf(faults),
      });
    },
  );

  it.each(treeFaults)('finds in a tree: $check, $what', async ({ check, spoil }) => {
    scene.provider.spoil(spoil(scene.provider));
    const { exitCode, failed, actual } = await scene.checkTree();
    scene.provider.spoil();
    expect({ exitCode, failed, actual }).toMatchObject({ exitCode: 1, failed: [check] });
  });

  it.each<Record<string, string>>([{}, { ALLOW_UNSIGNED_INDEX: 'true' }])(
    'finds in a tree whose index has no signature that fault, and the others behind it, with the settings %j',
    async (settings) => {
      const { provider } = scene;
      provider.spoil(unsignedIndex(provider));
      const alone = await scene.checkTree(settings);
      expect(alone).toMatchObject({ exitCode: 1, failed: ['index-signed'], skipped: [] });
      expect(alone.actual['index-signed']).toContain('has no signature');
      provider.spoil(unsignedIndex(provider, 'and a toaster'));
      expect((await scene.checkTree(settings)).failed).toEqual(['index-signed', 'attributes-conform']);
      provider.spoil();
    },
  );

  it('judges a tree by the specification, whatever this machine accepts', async () => {
    const schemas = mkdtempSync(join(tmpdir(), 'signpost-schemas-'));
    const lax = join(schemas, 'EnergyResourceEVCharger', 'v1.1');
    mkdirSync(lax, { recursive: true });
    writeFileSync(
      join(lax, 'schema.json'),
      JSON.stringify({ $id: 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/schema.json' }),
    );
    const lenient = { CRAWL_MAX_MASTERS: '100', SCHEMA_DIR: schemas };
    const strict = { CRAWL_FILE_LIMIT: '1kb', CRAWL_FETCH_TIMEOUT_MS: '10', UNKNOWN_CONTEXT: 'reject' };
    try {
      for (const check of ['nothing-else-refused', 'attributes-conform']) {
        const { spoil } = treeFaults.find((fault) => fault.check === check) ?? {};
        scene.provider.spoil(spoil?.(scene.provider));
        expect(await scene.checkTree(lenient)).toMatchObject({ exitCode: 1, failed: [check] });
        scene.provider.spoil();
      }
      expect(await scene.checkTree(strict)).toMatchObject({ exitCode: 0, failed: [], skipped: [] });
    } finally {
      rmSync(schemas, { recursive: true });
    }
  });

  it('does not accuse a service that refuses callbacks to another address than the registered one of --other', async () => {
    const { passed } = await scene.check('catalog', [], [...elsewhere, '--only', 'pull-own-only']);
    expect(passed).toEqual(['pull-own-only']);
  });

  it('tells what was checked, expected and got, and by which clause', async () => {
    const fault = treeFaults.find(({ check }) => check === 'baseline-digest');
    scene.provider.spoil(fault?.spoil(scene.provider));
    const { exitCode, out } = await scene.conform(scene.provider.url);
    scene.provider.spoil();
    expect(exitCode).toBe(1);
    expect(out).toContain(`${scene.provider.url}, checked as a published tree`);
    expect(out).toMatch(/^ok {4}manifest-served {2,}a JSON document at /m);
    expect(out).toMatch(
      /^FAULT baseline-digest {2,}Self-hosted spec: Authentication, 3\n {6}expected {2}bytes with the digest .*\n {6}actual {4}baseline .* does not have the digest/m,
    );
    expect(out).toMatch(new RegExp(`^${treeChecks.length} checks: \\d+ passed, 1 failed`, 'm'));
  });

  it('passes the tree of our publisher against the clauses of NFH-014, and names the clause that a fault breaks', async () => {
    const { provider } = scene;
    const draft = [provider.url, '--role', 'tree', '--node', provider.id, '--clauses', 'nfh-014'];
    const sound = await scene.conform(...draft);
    expect(sound.exitCode).toBe(0);
    expect(sound.out).toContain('against the clauses of NFH-014');
    expect(sound.out).toMatch(
      /^ok {4}CON-TBD-02 {2,}every catalog file .* \(baseline-signed, change-signed\)$/m,
    );
    expect(sound.out).toMatch(/^– {5}CON-TBD-20 {2,}not checked: the specification allows several indexes/m);
    expect(sound.out).toMatch(/^18 clauses: 7 passed, 0 failed, 11 not checked\.$/m);
    const fault = treeFaults.find(({ check }) => check === 'change-signed');
    provider.spoil(fault?.spoil(provider));
    const { exitCode, out } = await scene.conform(...draft, '--json');
    provider.spoil();
    const { clauses, isConforming, checks } = JSON.parse(out);
    expect({ exitCode, clauses, isConforming }).toEqual({
      exitCode: 1,
      clauses: 'nfh-014',
      isConforming: false,
    });
    expect(checks.filter(({ verdict }: CheckResult) => verdict === 'failed')).toMatchObject([
      { name: 'CON-TBD-02', actual: expect.stringMatching(/^change-signed: change .*signature/) },
    ]);
  });

  it('refuses the clauses of NFH-014 for a catalog service, which has none, and beside --only', async () => {
    const { catalogUrl } = scene.discovering.network;
    const draft = [...asker, '--role', 'catalog', '--clauses', 'nfh-014'];
    const { exitCode, notes } = await scene.conform(catalogUrl, ...draft);
    expect([exitCode, notes]).toEqual([1, expect.stringContaining('has no clauses for a catalog service')]);
    const both = await scene.conform(catalogUrl, ...draft, '--only', 'ttl-expired');
    expect(both.exitCode).toBe(1);
  });

  it('makes only the checks that are asked for, and names those that there are', async () => {
    const { passed, skipped } = await scene.check('discovery', [], ['--only', 'ttl-expired']);
    expect({ passed, skipped }).toEqual({ passed: ['ttl-expired'], skipped: [] });
    const { exitCode, notes } = await scene.conform(scene.provider.url, '--only', 'ttl-expired');
    expect([exitCode, notes]).toEqual([1, expect.stringContaining('Its checks: manifest-served, ')]);
  });

  it('finds out what stands at an address', async () => {
    const { catalogUrl, discoveryUrl, config } = scene.discovering.network;
    const roleOf = async (url: string) => {
      const { out } = await scene.conform(url, ...asker, '--only', 'codes-canonical', '--json');
      return out === '' ? undefined : JSON.parse(out).role;
    };
    expect([await roleOf(catalogUrl), await roleOf(discoveryUrl)]).toEqual(['catalog', 'discovery']);
    const { exitCode, notes } = await scene.conform(config.registryUrl);
    expect([exitCode, notes]).toEqual([1, expect.stringContaining('Give --role')]);
  });
});

describe('signpost conform, where a pull is answered by a download', () => {
  let scene: ConformScene;
  const only = ['download-shape', 'download-checksum', 'pull-latest'].flatMap((name) => ['--only', name]);
  beforeAll(async () => {
    scene = await startConformScene({ PULL_INLINE_LIMIT: '1kb' });
  });
  afterAll(() => scene?.close());

  it('passes our catalog service', async () => {
    const { passed } = await scene.check('catalog', [], only);
    expect(passed.sort()).toEqual(['download-checksum', 'download-shape', 'pull-latest']);
  });

  it.each(downloadFaults)('finds: $check, $what', async (fault) => {
    const { failed } = await scene.check('catalog', [fault], only);
    expect(failed).toEqual([fault.check]);
  });
});

const crawlNames = crawlChecks.map(({ name }) => name);

/** A small pull is answered inline. */
const onlyDownloads = ['download-shape', 'download-checksum'];

function namesOf(faults: readonly PlantedFault[]): string[] {
  return faults.map(({ check }) => check).sort();
}
