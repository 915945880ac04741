import type { Config } from '../../config.ts';
import type { Callback } from '../../delivery/receive-callback.ts';
import { createGuardedClient, FetchFailure, type GuardedClient } from '../../http/guarded-client.ts';
import { isAskedService } from '../../protocol/asked-service.ts';
import { identityOf } from '../../protocol/identity.ts';
import { createRegistryClient, type RegistryClient } from '../../registry/client.ts';
import { silentLogger } from '../../silent-logger.ts';
import { type CommandContext, CommandError } from '../command.ts';
import type { CallbackListener } from './callback.ts';
import { isAccepted, type ReceivedAnswer, readAnswer } from './report.ts';
import type { SendableRequest } from './request.ts';

// One signed exchange as a command makes it: the request, its answer, and the callback where one is due.

const answerTimeoutMs = 30_000;
const maxAnswerBytes = 64 * 1024 * 1024;

/** The person at the terminal wrote the addresses: none is guarded. */
export async function withRegistry<T>(
  config: Config,
  work: (registry: RegistryClient, client: GuardedClient) => Promise<T>,
): Promise<T> {
  const client = createGuardedClient({
    ...{ allowPrivateAddresses: true, fewCalls: true },
    nameServers: config.DNS_SERVERS,
  });
  const registry = createRegistryClient({
    url: config.registryUrl,
    registryName: config.REGISTRY_NAME,
    client,
    logger: silentLogger(),
  });
  try {
    return await work(registry, client);
  } finally {
    await client.close();
  }
}

export async function exchange(request: SendableRequest, registry: RegistryClient, client: GuardedClient) {
  const { method, url, body, authorization, signature } = request;
  try {
    const response = await client.request(url, {
      method,
      headers: { authorization, ...(body.length > 0 && { 'content-type': 'application/json' }) },
      body: body.length > 0 ? body : undefined,
      timeoutMs: answerTimeoutMs,
      maxBytes: maxAnswerBytes,
      maxRedirects: 0,
      operatorConfigured: true,
    });
    return await readAnswer(response, signature, registry);
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error;
    const advice = error.kind === 'unreachable' ? ' Is signpost running? Start it with: npm start' : '';
    throw new CommandError(`${error.message}${advice}`, error);
  }
}

/** Nothing follows a refusal, nor a 202: that was received, and found to need no processing. */
export function isCallbackDue(listener: CallbackListener | undefined, answer: ReceivedAnswer): boolean {
  return listener !== undefined && isAccepted(answer) && answer.status !== 202;
}

export async function waitForCallback(
  listener: CallbackListener | undefined,
  { url }: SendableRequest,
  answer: ReceivedAnswer,
  seconds: number,
  context: CommandContext,
): Promise<Callback | undefined> {
  if (!listener || !isCallbackDue(listener, answer)) return undefined;
  const { action } = listener;
  context.note(`Waiting at ${listener.url} for ${action}, up to ${seconds} s …`);
  const { callback, refusal } = await listener.wait(seconds, findAcknowledger(url, answer, context));
  if (refusal !== undefined)
    context.note(`No ${action} was accepted within ${seconds} s. The last one was refused: ${refusal}`);
  else if (!callback) context.note(`No ${action} came within ${seconds} s.`);
  return callback;
}

/** Who signed the answer, where that is a participant at the address that was asked: then nobody else can call back. */
function findAcknowledger(url: string, { signature }: ReceivedAnswer, context: CommandContext) {
  if (!signature.holds) return undefined;
  const signer = identityOf(signature.signer, context.config().REGISTRY_NAME);
  if (isAskedService({ url }, signer, signature)) return signer;
  const { origin } = new URL(url);
  context.note(
    `The answer counts as unsigned: ${signer} has signed it, which is not at ${origin} in the registry.`,
  );
  return undefined;
}
