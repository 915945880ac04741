import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import type { Logger } from '../../logger.ts';
import type { Process } from '../../main.ts';
import { identityOf } from '../../protocol/identity.ts';
import { listPushes } from '../../storage/catalog/push-list.ts';
import { isAtRest } from '../../storage/crawl/status.ts';
import { explainUnwritable } from '../../storage/explain-unwritable.ts';
import { acquireFileLock, LockNotFree } from '../../storage/file-lock.ts';
import { type CommandContext, CommandError } from '../command.ts';
import { runProcess } from '../run-process.ts';
import { renderBanner } from './banner.ts';
import { startConsumer } from './consumer.ts';
import { publishHostedCatalogs, serveSecondPublisher } from './hosted-nodes.ts';
import { offerPage } from './open-page.ts';
import { registerOthers, registerOwn } from './participants.ts';
import { type Playing, playDemo } from './play.ts';
import { readUpConfig } from './settings.ts';

export interface UpOptions {
  empty?: boolean;
  workers?: string;
  json?: boolean;
}

export async function runUp(options: UpOptions, context: CommandContext): Promise<void> {
  const config = readUpConfig(context, options);
  const release = await claimDataDir(config.DATA_DIR, context);
  try {
    await run(options, context, config);
  } finally {
    await release();
  }
}

/**
 * One `up` at a time: a second one, on other ports, would register the identities of the first with its own addresses, where nobody
 * finds them any more once it has ended. The lock is not `DATA_DIR/lock`, which is the publisher's where PUBLISHER_DIR is DATA_DIR. Returns
 * the function that gives the directory back.
 */
async function claimDataDir(dataDir: string, context: CommandContext): Promise<() => Promise<void>> {
  const waiting = setTimeout(
    () => context.note('signpost: waiting to see whether another machine or container uses the same data …'),
    sayAfterMs,
  );
  try {
    return await acquireFileLock(join(dataDir, 'up', 'lock'), 0);
  } catch (error) {
    if (!(error instanceof LockNotFree)) throw new CommandError(explainUnwritable(dataDir, error), error);
    const where = error.ownerPid ? `process ${error.ownerPid}` : 'on another machine or in another container';
    throw new CommandError(
      `Signpost is up already with the data of ${dataDir} (${where}). Stop it, or set another DATA_DIR and other ports.`,
      error,
    );
  } finally {
    clearTimeout(waiting);
  }
}

function run(options: UpOptions, context: CommandContext, config: Config): Promise<void> {
  return runProcess(context, config, {
    json: options.json,
    async prepare(database) {
      if (config.demo) await publishHostedCatalogs(config);
      await registerOwn(database, config);
      if (config.demo) await registerOthers(database, config);
    },
    alongside: (running, logger) => runDemo(config, running, logger),
    settle: (running, signal, playing) => untilAtRest(config, running, signal, playing),
    started() {
      context.print(renderBanner(config));
      return offerPage(context, config);
    },
  });
}

/** Starts the participants of the demo beside the roles. */
async function runDemo(
  config: Config,
  { database, roles }: Pick<Process, 'database' | 'roles'>,
  logger: Logger,
): Promise<Playing | undefined> {
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
  playing: Playing | undefined,
): Promise<void> {
  if (!database) return;
  const patience = AbortSignal.any([signal, AbortSignal.timeout(restWithinMs)]);
  await Promise.race([
    playing?.done,
    delay(restWithinMs, undefined, { signal: patience }).catch(() => undefined),
  ]);
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
