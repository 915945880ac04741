import { relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import type { Config } from '../config.ts';
import type { Process } from '../main.ts';
import { identityOf, splitIdentity } from '../protocol/identity.ts';
import { publicKeyOf } from '../protocol/keys.ts';
import type { PublishMessage } from '../protocol/publish-messages.ts';
import { findIndexNames, indexUrl } from '../publisher/indexes.ts';
import { defaultIndexName } from '../publisher/paths.ts';
import { publish } from '../publisher/publisher.ts';
import { placesIn } from '../publisher/tree.ts';
import { loadOrCreateSigningKey } from '../registry/key-files.ts';
import { isAtRest } from '../storage/crawl/status.ts';
import type { Database } from '../storage/database.ts';
import { registerParticipant, setCatalogIndexUrls } from '../storage/registry/participants.ts';
import type { CommandContext } from './command.ts';
import { demoCatalog } from './demo-catalog.ts';
import { withPublisher } from './publish/self.ts';
import { runProcess, workersHelp } from './run-process.ts';

export function registerUpCommand(program: Command, context: CommandContext): void {
  program
    .command('up')
    .option('--workers <number>', workersHelp)
    .addHelpText(
      'after',
      `
The database, the demo identities' keys and everything else live in DATA_DIR (default .signpost); delete it to start anew.
Private addresses and plain HTTP are allowed, as everything is on this machine.`,
    )
    .action(({ workers }: { workers?: string }) => {
      const config = demoConfig(context, workers === undefined ? {} : { WORKERS: workers });
      return runProcess(context, config, {
        async prepare(database) {
          await publishDemoCatalog(config);
          await registerDemoNetwork(database, config);
        },
        settle: untilAtRest,
        started: () => context.print(firstSteps(config)),
      });
    });
}

/**
 * Where the environment says nothing else: everything is on this machine, and the discovery service follows the catalog service and crawls
 * whoever publishes for itself.
 */
function demoConfig(context: CommandContext, chosen: Record<string, string>): Config {
  const { identities, roles, DEFAULT_NETWORK_ID } = context.config();
  const { id: catalogId, url: catalogUrl } = identities.catalog;
  const subscriptions = [{ catalogUrl, catalogId, networkIds: [DEFAULT_NETWORK_ID] }];
  const demo = {
    ALLOW_PRIVATE_ADDRESSES: 'true',
    DISCOVERY_SUBSCRIPTIONS: JSON.stringify(subscriptions),
    DISCOVERY_NETWORKS: JSON.stringify([DEFAULT_NETWORK_ID]),
    CRAWL_HINT_URLS: JSON.stringify(roles.includes('discovery') ? [identities.discovery.url] : []),
    // What somebody publishes is to be found before they look for it.
    CRAWL_INTERVAL_SECONDS: '4',
    CRAWL_MIN_INTERVAL_SECONDS: '2',
    PUBLISH_WARNINGS: 'true',
  };
  const unset = Object.entries(demo).filter(([setting]) => !context.isSet(setting));
  return context.config({ ...Object.fromEntries(unset), ...chosen });
}

/** Has no address: it is played by `signpost send`, whose callbacks may come back to any port. So is the consumer, unless it has one. */
const demoProvider = { id: 'provider.signpost.test', keyId: 'key-1', url: undefined };

/** The roles of this process and the actors of the demo become participants of the own registry, keys included. */
async function registerDemoNetwork(database: Database, config: Config): Promise<void> {
  const { catalog, discovery, publisher, consumer } = config.identities;
  const participants = [
    { ...catalog, type: 'BPP' },
    { ...discovery, type: 'BAP' },
    { ...publisher, type: 'BPP' },
    { ...demoProvider, type: 'BPP' },
    { ...consumer, type: 'BAP' },
  ];
  for (const participant of participants) {
    const key = loadOrCreateSigningKey(config.DATA_DIR, participant);
    await registerParticipant(database, {
      ...splitIdentity(identityOf(participant.id, config.REGISTRY_NAME)),
      subscriberId: participant.id,
      type: participant.type,
      url: participant.url,
      networkIds: [config.DEFAULT_NETWORK_ID],
      key: { recordId: key.recordId, publicKey: publicKeyOf(key.privateKey) },
      replaceKey: true,
    });
  }
  const indexUrls = (await findIndexNames(placesIn(config.publisherDir))).map((name) =>
    indexUrl({ baseUrl: config.catalogBaseUrl }, name),
  );
  await setCatalogIndexUrls(
    database,
    splitIdentity(identityOf(publisher.id, config.REGISTRY_NAME)),
    indexUrls,
  );
}

/** Before anybody comes to read; what somebody has published here since the first time is left alone. */
async function publishDemoCatalog(config: Config): Promise<void> {
  const published = await findIndexNames(placesIn(config.publisherDir));
  if (!config.roles.includes('publisher') || published.length > 0) return;
  const { id: catalogId } = demoCatalog;
  const message: PublishMessage = {
    catalogs: [demoCatalog],
    publishDirectives: [{ catalogId, catalogType: 'REGULAR', visibleTo: [config.DEFAULT_NETWORK_ID] }],
  };
  await withPublisher(config, (publisher) => publish(publisher, { message }));
}

/** The first subscription, pull and crawl are over within a second: what is suggested then finds something. */
async function untilAtRest(
  { database, roles }: Pick<Process, 'database' | 'roles'>,
  signal: AbortSignal,
): Promise<void> {
  if (!database || !roles.some(({ role }) => role === 'discovery')) return;
  const patience = AbortSignal.any([signal, AbortSignal.timeout(restWithinMs)]);
  while (!patience.aborted && !(await isAtRest(database))) {
    await delay(restPollMs, undefined, { signal: patience }).catch(() => undefined);
  }
}

const restWithinMs = 10_000;
const restPollMs = 50;

function firstSteps(config: Config): string {
  const page = (config.OPERATIONS_PORT ?? 0) === 0 ? 'docs' : 'openapi.json'; // which stays when the operator's pages move away
  const index = indexUrl({ baseUrl: config.catalogBaseUrl }, defaultIndexName);
  return `
Signpost is up. In another terminal, in the same folder:
  npx signpost send ${nameExample('publish-chargers.json')} --as provider.signpost.test --to ${config.identities.catalog.url} --wait
  npx signpost discover fast charger --near 12.97,77.64 --within 5km
  npx signpost discover charger --near 12.32,76.65     crawled from signed files: ${index}
API: ${config.identities.catalog.url}/${page}    Ctrl-C stops everything.`;
}

/** As it can be typed in this folder: the examples are wherever this package is installed. */
function nameExample(name: string): string {
  const file = fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
  const below = relative('', file);
  const path = below.startsWith('..') ? file : below;
  return /^[\w./@+-]+$/.test(path) ? path : JSON.stringify(path);
}
