import { FetchFailure } from '../../http/fetch-failure.ts';
import type { Json } from '../../protocol/json.ts';
import type { Nack } from '../../protocol/nack.ts';
import type { TriggerAnswer } from '../../protocol/trigger-messages.ts';
import type { AwaitedRequest } from '../../publisher/relay.ts';
import { announceCallback, publishByTrigger, type Trigger } from '../../publisher/trigger-client.ts';
import { findTriggerToken } from '../../publisher/trigger-token.ts';
import type { ConsoleContext } from '../context.ts';
import { ConsoleError } from '../errors.ts';

// Calls the publisher of this machine at its local trigger, like the commands.

const publishMs = 10 * 60_000;
const announceMs = 10_000;

export async function publishFiles(context: ConsoleContext, message: Json): Promise<TriggerAnswer> {
  const node = context.config.identities.publisher.id;
  const asked = { node, request: { message }, timeoutMs: publishMs };
  const reply = await publishByTrigger(triggerOf(context), asked).catch((error) => {
    if (!(error instanceof FetchFailure)) throw error;
    throw new ConsoleError('NET_DOWNSTREAM_UNAVAILABLE', 'No publisher runs on this machine.', {
      ...{ status: 409, hint: 'Publish where its key is: signpost publish FILE --self' },
    });
  });
  if (reply.kind === 'taken') return reply.answer;
  const wrongToken = 'PUBLISHER_TRIGGER_TOKEN, or the token file, is not that of the publisher.';
  throw refusedBy('publisher', reply, reply.status === 401 ? wrongToken : undefined);
}

/** Announces a callback to the publisher, which then accepts it. If no publisher runs, nothing can receive it; the failure is only logged. */
export async function awaitCallback(context: ConsoleContext, awaited: AwaitedRequest): Promise<void> {
  const tell = (reason: object) => context.logger.debug(reason, 'the publisher did not get a callback');
  try {
    const reply = await announceCallback(triggerOf(context), awaited, announceMs);
    if (reply.kind === 'refused') tell(reply);
  } catch (err) {
    tell({ err });
  }
}

function triggerOf({ config, outside: { client } }: ConsoleContext): Trigger {
  return { client, url: config.triggerUrl, token: findTriggerToken(config) };
}

export function refusedBy(
  who: 'catalog service' | 'publisher',
  { status, nack: { code = '', message = '', path } }: { status: number; nack: Nack },
  hint?: string,
): ConsoleError {
  const said = `The ${who} refused it, ${status} ${code}: ${message}`;
  return new ConsoleError('BIZ_GENERIC_ERROR', said, { path, hint });
}
