import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '../../src/logger.ts';
import { identityOf, splitIdentity } from '../../src/protocol/identity.ts';
import { generateSeed, privateKeyFromSeed, publicKeyOf, type SigningKey } from '../../src/protocol/keys.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { registerParticipant } from '../../src/storage/registry/participants.ts';
import { createTestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/time.ts';
import { type LyingRegistry, startLyingRegistry } from './lying-registry.ts';
import { type RoleProcess, startRoles } from './role-process.ts';
import { type Sink, startSink } from './sink.ts';

// Every role in processes of their own on a fresh database, and participants whose keys the suite has. The services ask a registry that stands
// before the real one, and lies about some names.

export const registryName = 'subscribers.beckn.one';
export const network = 'nfh.global/beckn-nodes';
export const roleNames = ['registry', 'catalog', 'discovery', 'publisher', 'console'] as const;
export type RoleName = (typeof roleNames)[number];
export type ParticipantName = 'catalog' | 'discovery' | 'publisher' | 'provider' | 'application' | 'feed';

export interface Participant {
  id: string;
  url: string;
  key: SigningKey;
}

export interface Scene {
  database: Database;
  /** Origins of the roles; `trigger` is the publisher's local one. */
  urls: Record<RoleName | 'trigger', string>;
  tokens: { trigger: string; operator: string };
  participants: Record<ParticipantName, Participant>;
  registry: LyingRegistry;
  /** Where callbacks, pushes and pulls come to. */
  sink: Sink;
  processes: RoleProcess[];
  dataDir: string;
  /** What a role that is not ready says. */
  findUnready(): Promise<string | undefined>;
  /** What a target has opened is closed with the scene. */
  closing(end: () => Promise<unknown>): void;
  close(): Promise<void>;
}

/** `together`: all roles in one process, which starts sooner. */
export async function openScene({ together = false } = {}): Promise<Scene> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    const home = await createTestDatabase();
    closers.push(home.drop);
    const database = await openDatabase({ url: home.url, logger: silentLogger(), maxConnections: 3 });
    closers.push(() => database.close());
    const dataDir = await mkdtemp(join(tmpdir(), 'signpost-fuzz-'));
    closers.push(() => rm(dataDir, { recursive: true, force: true }));
    await chmod(dataDir, 0o755);
    const ports = await choosePorts();
    const origin = (port: number) => `http://127.0.0.1:${port}`;
    const sink = await startSink();
    closers.push(sink.stop);
    const registry = await startLyingRegistry(origin(ports.registry));
    closers.push(registry.stop);
    const urls = {
      ...{ registry: origin(ports.registry), catalog: origin(ports.catalog) },
      ...{ discovery: origin(ports.discovery), publisher: origin(ports.publisher) },
      ...{ console: origin(ports.console), trigger: origin(ports.trigger) },
    };
    const { seeds, participants } = makeParticipants({
      ...{ catalog: urls.catalog, discovery: urls.discovery, publisher: urls.publisher },
      ...{ provider: sink.url, application: sink.url, feed: sink.url },
    });
    for (const one of Object.values(participants)) await register(database, one);
    const tokens = {
      trigger: 'trigger-token-of-the-fuzz-suite',
      operator: 'operator-token-of-the-fuzz-suite',
    };
    const settings = {
      ...settingsOf(participants, seeds),
      ...portSettings(ports),
      ...{ DATABASE_URL: home.url, DATA_DIR: dataDir, REGISTRY_URL: `${registry.url}/dedi` },
      ...{ PUBLISHER_TRIGGER_TOKEN: tokens.trigger, OPERATOR_TOKEN: tokens.operator },
    };
    const groups = together ? [roleNames.join(',')] : roleNames;
    const processes = await Promise.all(groups.map((roles) => startRoles(roles, settings)));
    for (const process of processes) closers.push(() => process.stop());
    const scene: Scene = {
      ...{ database, urls, tokens, participants, registry, sink, processes, dataDir, close },
      closing: (end) => void closers.push(end),
      findUnready: async () => {
        const answers = await Promise.all(roleNames.map((role) => readiness(`${urls[role]}/ready`)));
        return answers.find((text) => text !== '');
      },
    };
    await untilReady(scene);
    return scene;
  } catch (error) {
    await close();
    throw error;
  }
}

async function untilReady({ findUnready }: Scene): Promise<void> {
  let problem: string | undefined;
  await until(
    async () => {
      problem = await findUnready();
      return problem === undefined;
    },
    'every role to be ready',
    20_000,
  ).catch((error) => {
    throw new Error(`${error.message}: ${problem}`);
  });
}

async function readiness(url: string): Promise<string> {
  const answer = await fetch(url).catch((error: Error) => error);
  if (answer instanceof Error) return `${url}: ${answer}`;
  return answer.ok ? '' : `${url}: ${await answer.text()}`;
}

type Ports = Record<RoleName | 'trigger', number>;

async function choosePorts(): Promise<Ports> {
  const names = [...roleNames, 'trigger'] as const;
  const ports = await Promise.all(names.map(freePort));
  return Object.fromEntries(names.map((name, index) => [name, ports[index] ?? 0])) as Ports;
}

function portSettings({ trigger, ...ports }: Ports): Record<string, string> {
  const settings = Object.entries(ports).map(([role, port]) => [`${role.toUpperCase()}_PORT`, `${port}`]);
  return { ...Object.fromEntries(settings), PUBLISHER_TRIGGER_PORT: `${trigger}` };
}

function makeParticipants(addresses: Record<ParticipantName, string>) {
  const seeds = Object.fromEntries(Object.keys(addresses).map((name) => [name, generateSeed()]));
  const participants = Object.fromEntries(
    Object.entries(addresses).map(([name, url]) => {
      const id = `${name}.fuzz.test`;
      const privateKey = privateKeyFromSeed(seeds[name] ?? '');
      return [name, { id, url, key: { subscriberId: id, recordId: 'key-1', privateKey } }];
    }),
  ) as Record<ParticipantName, Participant>;
  return { seeds, participants };
}

export async function register(database: Database, { id, url, key }: Participant): Promise<void> {
  await registerParticipant(database, {
    ...splitIdentity(identityOf(id, registryName)),
    ...{ subscriberId: id, url, networkIds: [network] },
    key: { recordId: key.recordId, publicKey: publicKeyOf(key.privateKey) },
  });
}

function settingsOf(
  { catalog, discovery, publisher, feed }: Record<ParticipantName, Participant>,
  seeds: Record<string, string>,
): Record<string, string> {
  const subscriptions = [catalog, feed].map(({ id, url }) => ({
    ...{ catalogUrl: url, catalogId: id, networkIds: [network] },
  }));
  return {
    ...{ CATALOG_ID: catalog.id, DISCOVERY_ID: discovery.id, PUBLISHER_ID: publisher.id },
    ...{ CATALOG_PRIVATE_KEY: seeds.catalog ?? '', DISCOVERY_PRIVATE_KEY: seeds.discovery ?? '' },
    ...{ PUBLISHER_PRIVATE_KEY: seeds.publisher ?? '', PUBLISHER_KEY_ID: 'key-1' },
    DISCOVERY_SUBSCRIPTIONS: JSON.stringify(subscriptions),
    DISCOVERY_NETWORKS: JSON.stringify([network]),
    ALLOW_PRIVATE_ADDRESSES: 'true',
    RETRY_BASE_MS: '50',
    // What is wrong is to be refused for that, not for coming too often or on a busy machine.
    ...{ RATE_LIMIT_PER_SECOND: '0', TIME_LIMIT_MS_PER_SECOND: '0', BYTE_LIMIT_PER_SECOND: '0' },
    OVERLOAD_EVENT_LOOP_MS: '60000',
    // Caches fill with whatever is sent; small ones show sooner that something else grows.
    SEARCH_CACHE_PERCENT: '1',
  };
}
