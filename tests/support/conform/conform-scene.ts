import { register as registerConformCommand } from '../../../src/cli/conform.ts';
import { identityOf, splitIdentity } from '../../../src/protocol/identity.ts';
import { privateKeyFromSeed, publicKeyOf } from '../../../src/protocol/keys.ts';
import { loadOrCreateSigningKey } from '../../../src/registry/key-files.ts';
import { registerParticipant } from '../../../src/storage/registry/participants.ts';
import { charger } from '../catalogs/sample-catalogs.ts';
import { freePort } from '../free-port.ts';
import { type Discovering, startDiscovering } from '../network/discover.ts';
import { defaultNetwork } from '../network/network.ts';
import { type Provider, startProvider } from '../network/provider.ts';
import { type CommandRun, runCommand } from '../processes/command.ts';
import { type BrokenService, type Spoiling, startBrokenService } from './broken-service.ts';
import { otherId } from './catalog-fault-parts.ts';
import { checkerSeed } from './request-faults.ts';

// `signpost conform` against a real network, through proxies that can plant faults in the answers and messages of its services.

export interface ConformScene {
  discovering: Discovering;
  provider: Provider;
  /** Runs the command against a role, with these faults in it. */
  check(
    role: 'catalog' | 'discovery',
    faults?: readonly Spoiling[],
    args?: readonly string[],
  ): Promise<Checked>;
  /** The same against the discovery service, as an identity whose files it crawls. */
  checkCrawl(
    faults?: readonly Spoiling[],
    args?: readonly string[],
    settings?: MachineSettings,
  ): Promise<Checked>;
  checkTree(settings?: MachineSettings): Promise<Checked>;
  conform(...args: string[]): Promise<CommandRun>;
  close(): Promise<void>;
}

/** Settings of the machine that the command runs on. */
export type MachineSettings = Record<string, string>;

export interface Checked {
  exitCode: number;
  passed: string[];
  failed: string[];
  skipped: string[];
  /** The actual value of each check, by its name. */
  actual: Record<string, string>;
}

/** Gets pushes at its registered address. */
const checkerId = 'checker.signpost.test';
/** Has no registered address: callbacks go to the address in its requests. */
const askerId = 'asker.signpost.test';
/** A second identity that does not listen here: callbacks to it go to its registered address, and to no other origin. */
export const elsewhere = ['--other', 'elsewhere.signpost.test', '--other-key', checkerSeed];
/** A member of the network, which hosts files at its address. */
const hostId = 'host.signpost.test';
/** The options for the command to act as the asker. */
export const asker = ['--as', askerId, '--key', checkerSeed];

export async function startConformScene(settings: Record<string, string> = {}): Promise<ConformScene> {
  const discovering = await startDiscovering({ settings });
  const { network } = discovering;
  const { config } = network;
  const { identities, DATA_DIR, REGISTRY_NAME } = config;
  const broken = {
    catalog: await startBrokenService({
      ...{ url: network.catalogUrl, key: loadOrCreateSigningKey(DATA_DIR, identities.catalog) },
    }),
    discovery: await startBrokenService({
      ...{ url: network.discoveryUrl, key: loadOrCreateSigningKey(DATA_DIR, identities.discovery) },
    }),
  };
  const publicKey = publicKeyOf(privateKeyFromSeed(checkerSeed));
  const register = (id: string, url?: string, networkIds: string[] = []) =>
    registerParticipant(network.database, {
      ...splitIdentity(identityOf(id, REGISTRY_NAME)),
      ...{ subscriberId: id, networkIds, key: { recordId: 'key-1', publicKey }, ...(url && { url }) },
    });
  await register(checkerId, broken.catalog.inboxUrl);
  await register(askerId);
  await register(otherId);
  await register('elsewhere.signpost.test', 'https://elsewhere.signpost.test/beckn');
  await register(hostId, broken.discovery.inboxUrl, [defaultNetwork]);
  await discovering.hold([coffeeCorner]);
  const provider = await startProvider(network, 'hosting');
  await publishTree(provider);

  const own = { DATA_DIR, REGISTRY_URL: config.registryUrl };
  const conformWith = (settings: MachineSettings, args: readonly string[]) =>
    runCommand(registerConformCommand, ['conform', ...args], { ...own, ...settings });
  const conform = (...args: string[]) => conformWith({}, args);

  async function askAs(
    id: string,
    { url, inboxUrl, passTo }: BrokenService,
    args: readonly string[],
    settings: MachineSettings,
  ) {
    const inboxPort = await freePort();
    passTo(`http://127.0.0.1:${inboxPort}`);
    return conformWith(settings, [
      ...[url, '--as', id, '--key', checkerSeed, '--json'],
      ...['--listen', `127.0.0.1:${inboxPort}`, '--uri', inboxUrl, ...args],
    ]);
  }

  async function checkAs(
    id: string,
    role: 'catalog' | 'discovery',
    faults: readonly Spoiling[],
    args: readonly string[],
    settings: MachineSettings = {},
  ): Promise<Checked> {
    broken[role].spoil(faults);
    const run = await askAs(id, broken[role], ['--role', role, ...args], settings);
    broken[role].spoil([]);
    return read(run);
  }

  return {
    discovering,
    provider,
    conform,
    check: (role, faults = [], args = []) =>
      role === 'catalog'
        ? checkAs(checkerId, role, faults, ['--other', otherId, '--other-key', checkerSeed, ...args])
        : checkAs(askerId, role, faults, args),
    checkCrawl: (faults = [], args = [], settings = {}) =>
      checkAs(hostId, 'discovery', faults, ['--network', defaultNetwork, ...args], settings),
    checkTree: async (settings = {}) =>
      read(await conformWith(settings, [provider.url, '--role', 'tree', '--node', provider.id, '--json'])),
    async close() {
      await provider.stop();
      await Promise.all(Object.values(broken).map((one) => one.stop()));
      await network.close();
    },
  };
}

/** Settings with which the discovery service crawls the members of the network, every second. */
export const crawling = {
  DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]),
  ...{ CRAWL_INTERVAL_SECONDS: '1', CRAWL_MIN_INTERVAL_SECONDS: '1' },
};

/** A catalog to find. */
const coffeeCorner = {
  id: 'coffee-corner',
  provider: {
    id: 'corner',
    descriptor: { name: 'Corner' },
    availableAt: [{ geo: { type: 'Point' as const, coordinates: [77.64, 12.97] } }],
  },
  resources: [{ id: 'espresso', descriptor: { name: 'Espresso machiato' } }],
};

async function publishTree(provider: Provider): Promise<void> {
  const resources = Array.from({ length: 10 }, (_, index) => charger(`charger-${index}`));
  const head = { descriptor: { name: 'Chargers' }, provider: { id: 'p', descriptor: { name: 'P' } } };
  const master = { ...head, id: 'master', resources: [charger('template')] };
  const publishDirectives = [{ catalogId: 'master', catalogType: 'MASTER' as const }];
  const publish = (last: number) =>
    provider.publish({
      message: {
        catalogs: [{ ...head, id: 'chargers', resources: resources.slice(0, last) }, master],
        publishDirectives,
      },
    });
  await publish(9);
  await publish(10);
}

function read({ exitCode, out, notes }: CommandRun): Checked {
  if (out === '') throw new Error(notes);
  const { checks } = JSON.parse(out) as { checks: { name: string; verdict: string; actual?: string }[] };
  const named = (verdict: string) =>
    checks.filter((check) => check.verdict === verdict).map(({ name }) => name);
  return {
    ...{ exitCode, passed: named('passed'), failed: named('failed'), skipped: named('skipped') },
    actual: Object.fromEntries(checks.map(({ name, actual = '' }) => [name, actual])),
  };
}
