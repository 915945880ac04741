import { FetchFailure } from '../../http/fetch-failure.ts';
import { isJsonObject, type Json, parseJson } from '../../protocol/json.ts';
import type { TriggerAnswer } from '../../protocol/trigger-messages.ts';
import { findTriggerToken } from '../../publisher/trigger-token.ts';
import type { ConsoleContext } from '../context.ts';
import { ConsoleError } from '../errors.ts';

// The publisher of this machine, asked at its local trigger as the commands ask it: it may be another process.

const publishMs = 10 * 60_000;
const maxAnswerBytes = 64 * 1024 * 1024;

/** Asks the publisher to publish a message as signed files. */
export async function publishFiles(context: ConsoleContext, message: Json): Promise<TriggerAnswer> {
  const node = encodeURIComponent(context.config.identities.publisher.id);
  return (await askTrigger(context, `/catalog/publish?node=${node}`, {
    message,
  })) as unknown as TriggerAnswer;
}

/** Announces a callback to the publisher, which then accepts it. If no publisher runs, nobody listens at its address, and the failure is only logged. */
export async function awaitCallback(
  context: ConsoleContext,
  request: { messageId: string; authorization: string; digest: string; url: string },
): Promise<void> {
  await askTrigger(context, '/callbacks', request).catch((error) => {
    context.logger.debug({ err: error }, 'the publisher was not told of a callback');
  });
}

async function askTrigger({ config, outside }: ConsoleContext, path: string, body: object): Promise<Json> {
  const token = findTriggerToken(config);
  const answer = await outside.client
    .request(`${config.triggerUrl}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
      ...{ timeoutMs: publishMs, maxBytes: maxAnswerBytes, operatorConfigured: true },
    })
    .catch((error) => {
      if (!(error instanceof FetchFailure)) throw error;
      throw new ConsoleError('NET_DOWNSTREAM_UNAVAILABLE', 'No publisher runs on this machine.', {
        ...{ status: 409, hint: 'Publish where its key is: signpost publish FILE --self' },
      });
    });
  if (answer.status === 204) return null;
  const said = parseJson(answer.body);
  if (answer.status === 200) return said;
  const message = isJsonObject(said) && isJsonObject(said.message) ? said.message : {};
  const error = isJsonObject(message.error) ? message.error : {};
  throw new ConsoleError(
    'BIZ_GENERIC_ERROR',
    `The publisher refused it, ${answer.status} ${error.code ?? ''}: ${error.message ?? ''}`,
    {
      ...(answer.status === 401 && {
        hint: 'PUBLISHER_TRIGGER_TOKEN, or the token file, is not that of the publisher.',
      }),
    },
  );
}
