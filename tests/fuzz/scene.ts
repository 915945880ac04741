import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '../../src/logger.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { createTestDatabase } from '../support/database/database.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/time.ts';
import { type LyingRegistry, startLyingRegistry } from './lying-registry.ts';
import { makeParticipants, type Participants, register, settingsOf } from './participants.ts';
import { type Sink, startSink } from './sink.ts';
import { type Host, startCommand, startHost, startRoles, type WatchedProcess } from './watched-process.ts';

// Every role in a separate process on a new database, also the command line and the client package, and participants whose keys the suite has. The
// services ask a proxy of the real registry, which lies about some names.

export const roleNames = ['registry', 'catalog', 'discovery', 'publisher', 'console'] as const;
export type RoleName = (typeof roleNames)[number];

export interface Scene {
  database: Database;
  /** Origins of the roles; `trigger` is the publisher's local one. */
  urls: Record<RoleName | 'trigger', string>;
  tokens: { trigger: string; operator: string };
  participants: Participants;
  registry: LyingRegistry;
  /** Receives callbacks, pushes and pulls of the roles. */
  sink: Sink;
  /** The services that the client package calls. */
  services: Sink;
  processes: readonly WatchedProcess[];
  /** Runs commands of the command line. */
  commands: Host;
  /** A participant that uses the client package. */
  client: Host;
  /** For commands that use this network. */
  settings: Record<string, string>;
  dataDir: string;
  /** Describes a role that is not ready. */
  findUnready(): Promise<string | undefined>;
  /** Closes something that a target has opened when the scene closes. */
  closing(end: () => Promise<unknown>): void;
  close(): Promise<void>;
}

/** `together`: all roles in one process, which starts faster. */
export async function openScene({ together = false } = {}): Promise<Scene> {
  const closers: (() => Promise<unknown>)[] = [];
  const closing = (end: () => Promise<unknown>) => void closers.push(end);
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    const home = await createTestDatabase();
    closing(home.drop);
    const database = await openDatabase({ url: home.url, logger: silentLogger(), maxConnections: 3 });
    closing(() => database.close());
    const dataDir = await mkdtemp(join(tmpdir(), 'signpost-fuzz-'));
    closing(() => rm(dataDir, { recursive: true, force: true }));
    await chmod(dataDir, 0o755);
    const ports = await choosePorts();
    const {
      consumer,
      client: clientUrl,
      ...urls
    } = Object.fromEntries(
      Object.entries(ports).map(([name, port]) => [name, `http://127.0.0.1:${port}`]),
    ) as Record<PortName, string>;
    const [sink, services] = [await startSink(), await startSink()];
    const registry = await startLyingRegistry(urls.registry);
    for (const { stop } of [sink, services, registry]) closing(stop);
    const participants = makeParticipants({
      ...{ catalog: urls.catalog, discovery: urls.discovery, publisher: urls.publisher },
      ...{ consumer, client: clientUrl },
      ...{ provider: sink.url, application: sink.url, feed: sink.url },
    });
    for (const one of Object.values(participants)) await register(database, one);
    const tokens = { trigger: 'trigger-token-of-the-suite', operator: 'operator-token-of-the-suite' };
    const settings = {
      ...{ ...settingsOf(participants), ...portSettings(ports), ...limits },
      ...{ DATABASE_URL: home.url, DATA_DIR: dataDir, REGISTRY_URL: `${registry.url}/dedi` },
      ...{ PUBLISHER_TRIGGER_TOKEN: tokens.trigger, OPERATOR_TOKEN: tokens.operator },
    };
    const groups = together ? [roleNames.join(',')] : roleNames;
    const start = async <P extends WatchedProcess>(starting: Promise<P>): Promise<P> => {
      const process = await starting;
      closing(() => process.stop());
      return process;
    };
    const roles = await Promise.all(groups.map((names) => start(startRoles(names, settings))));
    const [commands, client, listen] = await Promise.all([
      start(startHost('commands', './hosts/run-commands.mjs', { DATA_DIR: dataDir })),
      start(startHost('client', './hosts/use-client.mjs', clientSettings(participants, services, settings))),
      start(startCommand('listen', ['listen', '--listen', `127.0.0.1:${ports.consumer}`], settings)),
    ]);
    const scene: Scene = {
      ...{ database, urls, tokens, participants, registry, sink, services, settings, dataDir },
      ...{ processes: [...roles, commands, client, listen], commands, client, closing, close },
      findUnready: async () => {
        const answers = await Promise.all(roleNames.map((role) => readiness(`${urls[role]}/ready`)));
        return answers.find((text) => text !== '');
      },
    };
    await untilReady(scene);
    return scene;
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

/** Limits off: a wrong request must be refused for its fault, not for its rate or a busy machine. */
const limits: Record<string, string> = {
  ...{ ALLOW_PRIVATE_ADDRESSES: 'true', RETRY_BASE_MS: '50', OVERLOAD_EVENT_LOOP_MS: '60000' },
  // Nothing listens there: names in bad input fail at once.
  DNS_SERVERS: '127.0.0.1:1',
  ...{ RATE_LIMIT_PER_SECOND: '0', TIME_LIMIT_MS_PER_SECOND: '0', BYTE_LIMIT_PER_SECOND: '0' },
  // Caches fill with all input; with small ones, other growth shows sooner.
  SEARCH_CACHE_PERCENT: '1',
};

function clientSettings({ client }: Participants, services: Sink, settings: Record<string, string>) {
  const options = {
    ...{ id: client.id, keyId: 'key-1', privateKey: client.seed, registry: settings.REGISTRY_URL },
    ...{ callbacks: client.url, catalogService: services.url, discoveryService: services.url },
    // Calls wait for their callbacks until one is accepted.
    ...{ retryForMs: 0, callbackTimeoutMs: 86_400_000 },
  };
  return { DATA_DIR: settings.DATA_DIR ?? '', CLIENT_OPTIONS: JSON.stringify(options) };
}

async function untilReady({ findUnready }: Scene): Promise<void> {
  let problem: string | undefined;
  await until(async () => {
    problem = await findUnready();
    return problem === undefined;
  }, 'every role to be ready').catch((error) => {
    throw new Error(`${error.message}: ${problem}`);
  });
}

async function readiness(url: string): Promise<string> {
  const answer = await fetch(url).catch((error: Error) => error);
  if (answer instanceof Error) return `${url}: ${answer}`;
  return answer.ok ? '' : `${url}: ${await answer.text()}`;
}

const portNames = [...roleNames, 'trigger', 'consumer', 'client'] as const;
type PortName = (typeof portNames)[number];

async function choosePorts(): Promise<Record<PortName, number>> {
  const ports = await Promise.all(portNames.map(freePort));
  return Object.fromEntries(portNames.map((name, index) => [name, ports[index] ?? 0])) as Record<
    PortName,
    number
  >;
}

function portSettings({ trigger, ...ports }: Record<PortName, number>): Record<string, string> {
  const settings = roleNames.map((role) => [`${role.toUpperCase()}_PORT`, `${ports[role]}`]);
  return { ...Object.fromEntries(settings), PUBLISHER_TRIGGER_PORT: `${trigger}` };
}
