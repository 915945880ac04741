import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import type { Logger } from '../../logger.ts';
import type { Process } from '../../main.ts';
import { identityOf } from '../../protocol/identity.ts';
import { listPushes } from '../../storage/catalog/push-list.ts';
import { isAtRest } from '../../storage/crawl/status.ts';
import type { CommandContext } from '../command.ts';
import { runProcess } from '../run-process.ts';
import type { UpOptions } from '../up.ts';
import { renderBanner } from './banner.ts';
import { startConsumer } from './consumer.ts';
import { publishHostedCatalogs, serveSecondPublisher } from './hosted-nodes.ts';
import { offerPage } from './open-page.ts';
import { registerOthers, registerOwn } from './participants.ts';
import { type Playing, playDemo } from './play.ts';
import { readUpConfig } from './settings.ts';

export function runUp(options: UpOptions, context: CommandContext): Promise<void> {
  const config = readUpConfig(context, options);
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

const restWithinMs = 10_000;
const restPollMs = 50;
