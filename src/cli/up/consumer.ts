import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import { questions } from '../../demo/questions.ts';
import type { Logger } from '../../logger.ts';
import { actions } from '../../protocol/actions.ts';
import type { DiscoverMessage } from '../../protocol/discover-messages.ts';
import { exchange, withRegistry } from '../send/exchange.ts';
import { buildRequest, prepareDraft } from '../send/request.ts';
import { resolveSigner } from '../send/signer.ts';

const pauseMs = 30_000;

/** A consumer that sends a search to the discovery service every half minute. The answers arrive at the inbox of the console. */
export function startConsumer(
  config: Config,
  logger: Logger,
  published: Promise<void>,
): { close(): Promise<void> } {
  const stop = new AbortController();
  const asking = published
    .then(() => askOnAndOn(config, logger, stop.signal))
    .catch((error: unknown) => {
      if (!stop.signal.aborted) logger.debug({ err: error }, 'the consumer of the demo asks nothing more');
    });
  return {
    async close() {
      stop.abort();
      await asking;
    },
  };
}

async function askOnAndOn(config: Config, logger: Logger, signal: AbortSignal): Promise<void> {
  await withRegistry(config, async (registry, client) => {
    const self = resolveSigner({ as: config.identities.consumer.id }, config);
    const ask = async (message: DiscoverMessage) => {
      const bytes = Buffer.from(JSON.stringify({ context: {}, message }));
      const { name: action } = actions.discover;
      const draft = prepareDraft({ to: config.identities.discovery.url, method: 'POST', action, bytes });
      const uri = `${config.consoleUrl}/inbox`;
      await exchange(buildRequest(draft, { self, uri, now: new Date() }), registry, client);
    };
    while (!signal.aborted)
      for (const message of questions) {
        // Also before the first question: the inbox stays empty while a newcomer sends the first request.
        await delay(pauseMs, undefined, { signal });
        await ask(message).catch((error) => logger.debug({ err: error }, 'a question was not answered'));
      }
  });
}
