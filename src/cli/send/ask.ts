import type { Config } from '../../config.ts';
import { describeClockDifference, findServerClock } from '../../delivery/bodiless-signature.ts';
import type { Callback, Waited } from '../../delivery/receive-callback.ts';
import type { GuardedClient, RequestOptions } from '../../http/guarded-client.ts';
import { isAskedService } from '../../protocol/asked-service.ts';
import { endpoints } from '../../protocol/endpoints.ts';
import { identityOf } from '../../protocol/identity.ts';
import type { SigningKey } from '../../protocol/keys.ts';
import { type CommandContext, CommandError } from '../command.ts';
import { tokenAdvice, tokenHeader, triggerAnswers } from '../trigger-client.ts';
import { chooseAddress, type OwnAddress } from './address.ts';
import type { CallbackListener, ListenAddress, ListenerOptions } from './callback.ts';
import { exchange, withRegistry } from './exchange.ts';
import { isAccepted, type ReceivedAnswer, readRefusal, requireAck } from './report.ts';
import { buildRequest, type Draft, prepareDraft, type SendableRequest } from './request.ts';
import { resolveSigner, type SignerOptions } from './signer.ts';

const answerMs = 10_000;
const maxCallbackBytes = 64 * 1024 * 1024;

export interface AskOptions extends Partial<SignerOptions> {
  wait: number;
  listen?: ListenAddress;
  uri?: string;
}

interface Question {
  to: string;
  action: string;
  document: object;
  /** The name of the called service in errors. */
  service: string;
  as: string;
  advise?(code: string): string;
}

export type Terminal = Pick<CommandContext, 'config' | 'note'>;

export class Refused extends CommandError {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** Sends a signed request and waits for its callback, which is undefined if it does not arrive. Throws if the request is refused. */
export async function ask(
  { to, action, document, service, as, advise = () => '' }: Question,
  options: AskOptions,
  context: Terminal,
): Promise<Pick<Sent, 'answer' | 'callback'>> {
  const self = resolveSigner({ ...options, as: options.as ?? as }, context.config());
  const draft = prepareDraft({ to, method: 'POST', action, bytes: Buffer.from(JSON.stringify(document)) });
  return sendAndWait(draft, self, options, context, (request, answer) => {
    if (!isAccepted(answer)) {
      const { code, reason } = readRefusal(answer.body);
      const refusal = `The ${service} refused this, ${answer.status} ${code}: ${reason}`;
      const advice = advise(code);
      throw new Refused(advice === '' ? refusal : `${refusal.replace(/\.?$/, '.')}${advice}`, answer.status);
    }
    requireAck(request, answer, service);
  });
}

interface Sent {
  request: SendableRequest;
  answer: ReceivedAnswer;
  callback?: Callback;
  /** A callback was due, but did not arrive. */
  isUnanswered: boolean;
}

/**
 * @param wait seconds; absent: do not wait for a callback
 * @param onAnswer is called with the answer before the wait for the callback
 */
export async function sendAndWait(
  draft: Draft,
  self: SigningKey,
  { wait, ...given }: { wait?: number; listen?: ListenAddress; uri?: string },
  context: Terminal,
  onAnswer: (request: SendableRequest, answer: ReceivedAnswer) => void,
): Promise<Sent> {
  const config = context.config();
  return withRegistry(config, async (registry, client) => {
    const address = await chooseAddress(self, given, registry, config.REGISTRY_NAME);
    const parts = { draft, address, given, self, registry, client, config, onRefused: context.note };
    const listener = wait === undefined ? undefined : await openListener(parts);
    try {
      const build = (now: Date) => buildRequest(draft, { self, uri: listener?.url ?? address.uri, now });
      let request = build(new Date());
      await listener?.expect(request);
      let answer = await exchange(request, registry, client);
      const clock = findServerClock(draft.method, answer, new Date());
      if (clock) {
        const difference = describeClockDifference(clock, new Date());
        context.note(`${draft.url} answered 401, and ${difference}: signed again with its time.`);
        request = build(clock);
        answer = await exchange(request, registry, client);
      }
      onAnswer(request, answer);
      // No callback follows a refusal or a 202, which means received without need for processing.
      const isDue = isAccepted(answer) && answer.status !== 202;
      if (!listener || wait === undefined || !isDue) return { request, answer, isUnanswered: false };
      const acknowledgedBy = findAcknowledger(request, answer, context);
      const callback = await waitForCallback(listener, acknowledgedBy, wait, context);
      return { request, answer, callback, isUnanswered: !callback };
    } finally {
      await listener?.close();
    }
  });
}

async function waitForCallback(
  { action, url, wait }: CallbackListener,
  acknowledgedBy: string | undefined,
  seconds: number,
  context: Terminal,
): Promise<Callback | undefined> {
  context.note(`Waiting at ${url} for ${action}, up to ${seconds} s …`);
  const { callback, refusal } = await wait(seconds, acknowledgedBy);
  if (refusal !== undefined)
    context.note(`No ${action} was accepted within ${seconds} s. The last one was refused: ${refusal}`);
  else if (!callback) context.note(`No ${action} came within ${seconds} s.`);
  return callback;
}

/** The signer of the answer, if it is a participant at the called address: then only it may call back. */
function findAcknowledger({ url }: SendableRequest, { signature }: ReceivedAnswer, context: Terminal) {
  if (!signature.holds) return undefined;
  const signer = identityOf(signature.signer, context.config().REGISTRY_NAME);
  if (isAskedService({ url }, signer, signature)) return signer;
  const { origin } = new URL(url);
  context.note(
    `The answer counts as unsigned: it was signed by ${signer}, which is not at ${origin} in the registry.`,
  );
  return undefined;
}

// A command waits for its callback itself, or through the running publisher of this machine if it signs as the publisher.

interface WaitingOptions extends Omit<ListenerOptions, 'address'> {
  address: OwnAddress;
  given: { listen?: ListenAddress };
  client: GuardedClient;
}

async function openListener({ address, given, client, ...options }: WaitingOptions) {
  const { self, draft, config } = options;
  const { REGISTRY_NAME, identities } = config;
  const isPublisher =
    identityOf(self.subscriberId, REGISTRY_NAME) === identityOf(identities.publisher.id, REGISTRY_NAME);
  const isRelayed = isPublisher && !given.listen && draft.action?.callback === endpoints.onPublish.name;
  if (isRelayed && (await triggerAnswers(config, client))) return waitThroughPublisher(config, client);
  const { listenForCallback } = await import('./callback.ts');
  return listenForCallback({ ...options, address: address.listen() });
}

function waitThroughPublisher(config: Config, client: GuardedClient): CallbackListener {
  const waitingUrl = `${config.triggerUrl}/callbacks`;
  const headers = { 'content-type': 'application/json', ...tokenHeader(config) };
  let place = '';
  const ask = async (address: string, options: Pick<RequestOptions, 'method' | 'body' | 'timeoutMs'>) => {
    const limits = { maxBytes: maxCallbackBytes, operatorConfigured: true };
    const answer = await client.request(address, { headers, ...limits, ...options });
    if (answer.status < 300) return answer;
    const refusal = `The publisher of this machine cannot wait for the callback: it answered ${answer.status}.`;
    throw new CommandError(answer.status === 401 ? `${refusal} ${tokenAdvice(config)}` : refusal);
  };
  return {
    action: endpoints.onPublish.name,
    url: config.identities.publisher.url,
    async expect({ messageId = '', authorization, digest, url: asked }) {
      place = `${waitingUrl}/${encodeURIComponent(messageId)}`;
      const body = JSON.stringify({ messageId, authorization, digest, url: asked });
      await ask(waitingUrl, { method: 'POST', body, timeoutMs: answerMs });
    },
    async wait(seconds, acknowledgedBy) {
      const query = new URLSearchParams({
        seconds: String(seconds),
        ...(acknowledgedBy !== undefined && { acknowledgedBy }),
      });
      const { body } = await ask(`${place}?${query}`, { timeoutMs: seconds * 1_000 + answerMs });
      return JSON.parse(body.toString('utf8')) as Waited;
    },
    close: async () => {},
  };
}
