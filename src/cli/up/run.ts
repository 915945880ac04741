import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../config.ts';
import { downDiscoveryId, facilitatorId, providerId } from '../../demo/network.ts';
import { demoCity } from '../../demo/places.ts';
import type { Logger } from '../../logger.ts';
import type { Process } from '../../main.ts';
import { identityOf } from '../../protocol/identity.ts';
import { listPushes } from '../../storage/catalog/push-list.ts';
import { isAtRest } from '../../storage/crawl/status.ts';
import { explainUnwritable } from '../../storage/explain-unwritable.ts';
import { acquireFileLock, LockNotFree } from '../../storage/file-lock.ts';
import { paint } from '../colour.ts';
import { type CommandContext, CommandError } from '../command.ts';
import { runProcess } from '../run-process.ts';
import { publishHostedCatalogs, serveSecondPublisher } from './hosted-nodes.ts';
import { registerOthers, registerOwn } from './participants.ts';
import { playDemo, startConsumer } from './play.ts';

export interface UpOptions {
  empty?: boolean;
  workers?: string;
}

export async function runUp(options: UpOptions, context: CommandContext): Promise<void> {
  const config = readUpConfig(context, options);
  const release = await claimDataDir(config.DATA_DIR, context);
  try {
    await runProcess(context, config, {
      async prepare(database) {
        if (config.demo) await publishHostedCatalogs(config);
        await registerOwn(database, config);
        if (config.demo) await registerOthers(database, config);
      },
      alongside: (running, logger) => runDemo(config, running, logger),
      settle: (running, signal, playing) => untilAtRest(config, running, signal, playing?.done),
      started: () => context.print(renderBanner(config)),
    });
  } finally {
    await release();
  }
}

/**
 * Allows one `up` at a time. Another one, on other ports, would register the first one's identities with its own addresses, which are dead after it
 * ends. The lock is not `DATA_DIR/lock`, which is the publisher's if PUBLISHER_DIR is DATA_DIR. Returns the function that releases the directory.
 */
async function claimDataDir(dataDir: string, context: CommandContext): Promise<() => Promise<void>> {
  const waiting = setTimeout(
    () => context.note('signpost: checking whether another machine or container uses the same data …'),
    sayAfterMs,
  );
  try {
    return await acquireFileLock(join(dataDir, 'up', 'lock'), 0);
  } catch (error) {
    if (!(error instanceof LockNotFree)) throw new CommandError(explainUnwritable(dataDir, error), error);
    const where = error.ownerPid ? `process ${error.ownerPid}` : 'on another machine or in another container';
    throw new CommandError(
      `Signpost is already running with the data of ${dataDir} (${where}). Stop it, or set another DATA_DIR and other ports.`,
      error,
    );
  } finally {
    clearTimeout(waiting);
  }
}

async function runDemo(
  config: Config,
  { database, roles }: Pick<Process, 'database' | 'roles'>,
  logger: Logger,
) {
  const runs = (name: string) => roles.some(({ role }) => role === name);
  if (!config.demo || !database) return undefined;
  const files = runs('publisher') ? await serveSecondPublisher(config) : undefined;
  const playing = runs('catalog') && runs('registry') ? playDemo(config, database, logger) : undefined;
  const done = playing?.done ?? Promise.resolve();
  const isAsked = runs('discovery') && runs('console') && config.identities.consumer.url === undefined;
  const consumer = isAsked ? startConsumer(config, logger, done) : undefined;
  return {
    done,
    async close() {
      await consumer?.close();
      await playing?.close();
      await files?.close();
    },
  };
}

/** Waits until the demo is published and the first subscription, pull and crawl are over, so that the suggested commands find something. */
async function untilAtRest(
  config: Config,
  { database, roles }: Pick<Process, 'database' | 'roles'>,
  signal: AbortSignal,
  done: Promise<void> | undefined,
): Promise<void> {
  if (!database) return;
  const patience = AbortSignal.any([signal, AbortSignal.timeout(restWithinMs)]);
  await Promise.race([done, delay(restWithinMs, undefined, { signal: patience }).catch(() => undefined)]);
  if (!roles.some(({ role }) => role === 'discovery')) return;
  const subscriber = identityOf(config.identities.discovery.id, config.REGISTRY_NAME);
  const isPushed = async () =>
    (await listPushes(database, { subscriber, state: 'open', limit: 1 })).length === 0;
  while (!patience.aborted && !((await isAtRest(database)) && (await isPushed()))) {
    await delay(restPollMs, undefined, { signal: patience }).catch(() => undefined);
  }
}

const sayAfterMs = 1_000;
const restWithinMs = 10_000;
const restPollMs = 50;

/** By default, everything is on this machine, and the discovery service follows the catalog service and crawls the network. */
function readUpConfig(context: CommandContext, { empty, workers }: { empty?: boolean; workers?: string }) {
  const { identities, roles, DEFAULT_NETWORK_ID } = context.config();
  const { id: catalogId, url: catalogUrl } = identities.catalog;
  const subscriptions = [{ catalogUrl, catalogId, networkIds: [DEFAULT_NETWORK_ID] }];
  const usual = {
    ALLOW_PRIVATE_ADDRESSES: 'true',
    DISCOVERY_SUBSCRIPTIONS: JSON.stringify(subscriptions),
    DISCOVERY_NETWORKS: JSON.stringify([DEFAULT_NETWORK_ID]),
    CRAWL_HINT_URLS: JSON.stringify(roles.includes('discovery') ? [identities.discovery.url] : []),
    // Finds catalogs published as files within seconds.
    CRAWL_INTERVAL_SECONDS: '4',
    CRAWL_MIN_INTERVAL_SECONDS: '2',
    MASTER_PUBLISHERS: facilitatorId,
    // Deliveries to the discovery service that is down are parked after 43 seconds, so that a newcomer sees them wait and be parked.
    ...(!empty && { RETRY_HOURS: '0.012' }),
  };
  const unset = Object.entries(usual).filter(([setting]) => !context.isSet(setting));
  const config = context.config({
    ...Object.fromEntries(unset),
    ...(workers !== undefined && { WORKERS: workers }),
  });
  if (empty) return config;
  const quietAbout = [identityOf(downDiscoveryId, config.REGISTRY_NAME)];
  return { ...config, demo: { city: demoCity, providerId, quietAbout } };
}

function renderBanner(config: Config): string {
  const { catalog } = config.identities;
  const hasConsole = config.roles.includes('console');
  // The console can sign requests. OPERATIONS_PORT moves the operator's pages, but not the document.
  const docs = `${hasConsole ? config.consoleUrl : catalog.url}/docs${hasConsole ? '?role=catalog' : ''}`;
  const api = (config.OPERATIONS_PORT ?? 0) === 0 ? docs : `${catalog.url}/openapi.json`;
  const steps = [
    `npx signpost send ${nameExample('publish-chargers.json')} --as provider.signpost.test --to ${catalog.url} --wait`,
    'npx signpost discover fast charger --near 12.97,77.64 --within 5km',
    ...(config.demo
      ? [
          'npx signpost discover charger --near 12.978,77.57 --within 1km     found in signed files that were crawled',
        ]
      : []),
    'npx signpost status',
  ];
  const page = hasConsole
    ? `Open ${paint('bold', config.consoleUrl)}`
    : 'It has no page: ROLES names no console.';
  return `
${paint('good', 'Signpost is up.')} ${page}

In another terminal, in the same folder:
${steps.map((step) => `  ${step}`).join('\n')}

API: ${api}    Ctrl-C stops everything.`;
}

/** A path that works in the working directory: the examples are in the installed package. */
function nameExample(name: string): string {
  const file = fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url));
  const below = relative('', file);
  const path = below.startsWith('..') ? file : below;
  return /^[\w./@+-]+$/.test(path) ? path : JSON.stringify(path);
}
