import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register as registerCrawlCommand } from '../../../src/cli/crawl.ts';
import { coffee, extending } from '../../support/catalogs/masters.ts';
import { catalogOf, openScene, type Scene } from '../../support/hosted/crawl-scene.ts';
import { kindOf } from '../../support/hosted/tampering.ts';
import { startDiscovery, withoutDiscovery } from '../../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { runCommand } from '../../support/processes/command.ts';

// The operator's commands on the database after a real crawl.

let network: TestNetwork;
let scene: Scene;

beforeAll(async () => {
  network = await startNetwork({ settings: withoutDiscovery });
  const discovery = await startDiscovery(network, [], {
    DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]),
  });
  scene = await openScene(network, { discoveryUrl: discovery.url });
  const { publish, spoil } = scene.provider;
  const resourceDirectives = [extending('r1', 'a-bean')];
  const publishDirectives = [
    { catalogId: 'waiting', catalogType: 'REGULAR' as const, resourceDirectives },
    { catalogId: 'elsewhere', catalogType: 'REGULAR' as const, visibleTo: ['elsewhere.org/retail'] },
  ];
  const waiting = { ...catalogOf('waiting', 0, 0), resources: [coffee('r1')] };
  const others = ['served', 'paused', 'retired', 'broken', 'elsewhere'].map((id) => catalogOf(id, 0, 2));
  await publish({ message: { catalogs: [...others, waiting], publishDirectives } });
  await publish({ pause: ['paused'], retire: ['retired'] });
  const gone = { status: 410, body: Buffer.alloc(0) };
  spoil((path) => (kindOf(path) === 'baseline' && path.includes('broken') ? gone : undefined));
  await scene.look();
  // Otherwise it would retry failed work.
  await discovery.stop();
});
afterAll(async () => {
  await scene?.end();
  await network?.close();
});

const crawl = (...args: string[]) =>
  runCommand(registerCrawlCommand, ['crawl', ...args], {
    ...{ DATABASE_URL: network.databaseUrl, LOG_LEVEL: 'silent' },
  });

describe('signpost crawl status', () => {
  it('shows whom the crawler reads, and how many catalogs are in which state', async () => {
    const { out } = await crawl('status');
    expect(out).toMatch(/^SOURCE +NAME +NODES +FAILURES +NEXT$/m);
    expect(out).toMatch(/^network +nfh\.global\/beckn-nodes +\d+ +0 +in \d+ (s|min)$/m);
    expect(out).toContain('6 catalogs: ');
    expect(out).toMatch(/^provider-\d+\.signpost\.test\/\S+ +127\.0\.0\.1:\d+ +1 +6 +2 +\d /m);
    const { catalogs } = JSON.parse((await crawl('status', '--json')).out);
    expect(catalogs).toHaveLength(6);
  });

  it('shows the catalogs of a node, one by one', async () => {
    const { out } = await crawl('status', '--node', scene.provider.id);
    const states = out
      .trim()
      .split('\n\n')[0]
      ?.split('\n')
      .slice(1)
      .map((line) => line.split(/ {2,}/).slice(0, 3).join(', '));
    expect(states).toEqual([
      'broken, REGULAR, failing',
      'elsewhere, REGULAR, not relevant',
      'paused, REGULAR, paused',
      'retired, REGULAR, retired',
      'served, REGULAR, served',
      'waiting, REGULAR, waiting for a master (a-bean)',
    ]);
    expect(out).toMatch(/^broken .* - of 1 .* file-missing +\d /m);
  });

  it('shows what comes next, and when', async () => {
    const { out } = await crawl('status');
    expect(out).toMatch(/^NEXT TASK +WHERE +WHEN$/m);
    expect(out).toMatch(
      /^(catalog broken|index|manifest|enumeration) +\S+ +(in \d+ (s|min|h)|now|\d+ s ago)$/m,
    );
    const { next, sources } = JSON.parse((await crawl('status', '--json')).out);
    const times = next.map(({ at }: { at: string }) => at);
    expect(times).toEqual([...times].sort());
    expect(sources[0].nextAt).toMatch(/^20.*Z$/);
    const own = (await crawl('status', '--node', scene.provider.id)).out;
    expect(own).toMatch(/^index +http:\S+index\/catalogs\.index\.json +in \d+ (s|min)$/m);
    expect(own).toMatch(/^manifest +provider-\d+\.signpost\.test\/\S+ +in \d+ (s|min)$/m);
  });

  it('sends to the doctor whoever asks for a node that is not known', async () => {
    const { exitCode, notes } = await crawl('status', '--node', 'nobody.example.org');
    expect(exitCode).toBe(1);
    expect(notes).toContain('See why: signpost doctor nobody.example.org');
  });
});

describe('signpost crawl log', () => {
  it('shows what was not taken, why, and what to do about it', async () => {
    const { out } = await crawl('log', '--node', scene.provider.id, '--catalog', 'broken');
    expect(out).toMatch(/^20\S+Z {2}file-missing {2}provider-\d+\.signpost\.test\/\S+ {2}broken\b/m);
    expect(out).toMatch(/^ {2}The baseline is missing: there is nothing at http/m);
    expect(out).toMatch(/^ {2}What to do: Upload content before the index/m);
  });

  it('shows the lines of one node, of one catalog, of all, page by page', async () => {
    const { lines, total } = JSON.parse((await crawl('log', '--json')).out);
    expect(lines).toHaveLength(total);
    expect(lines.map(({ catalogId }: { catalogId: string }) => catalogId)).toEqual(
      expect.arrayContaining(['broken', 'elsewhere', 'waiting']),
    );
    const page = JSON.parse((await crawl('log', '--json', '--limit', '1', '--offset', '1')).out);
    expect(page).toEqual({ lines: [lines[1]], total });
    expect((await crawl('log', '--limit', '1')).notes).toBe(
      `${total - 1} more; --limit and --offset show them.\n`,
    );
    expect((await crawl('log', '--node', 'nobody.example.org')).out).toBe(
      'The crawl log has no matching lines.\n',
    );
  });
});

describe('signpost crawl now', () => {
  it('says so when no crawler runs', async () => {
    const { exitCode, notes } = await crawl('now', scene.provider.id, '--timeout', '1');
    expect(exitCode).toBe(1);
    expect(notes).toContain('Is the discovery service running?');
  });
});
