import { signTimes } from '../delivery/bodiless-signature.ts';
import { FetchFailure, type GuardedClient } from '../http/guarded-client.ts';
import type { Action } from '../protocol/actions.ts';
import { bodyDigest } from '../protocol/digest.ts';
import { fillIn } from '../protocol/fill-in.ts';
import { type Json, type JsonObject, parseIfJson } from '../protocol/json.ts';
import type { SigningKey } from '../protocol/keys.ts';
import { signRequest } from '../protocol/request-signature.ts';
import { CheckFailed } from './check.ts';

// Sends signed requests as one identity, valid and invalid ones, and keeps all answers.

export type Sender = ReturnType<typeof createSender>;

export interface Sending {
  message?: object;
  /** Replaces members of the default context; undefined removes one. */
  context?: Readonly<Record<string, unknown>>;
  query?: Readonly<Record<string, string>>;
  /** Sent instead of context and message. */
  raw?: Buffer;
  key?: SigningKey;
  now?: Date;
  /** Changes the Authorization header; undefined omits it. */
  authorization?(usual: string): string | undefined;
}

export interface Answer {
  action: Action;
  status: number;
  body: Json;
  messageId: string;
  /** Whether the request contains a readable messageId. */
  namesMessage: boolean;
  message?: object;
  digest: string;
  authorization: string;
}

interface SenderOptions {
  client: GuardedClient;
  target: string;
  key: SigningKey;
  uri: string;
}

const answerTimeoutMs = 30_000;
const maxAnswerBytes = 64 * 1024 * 1024;
/** A node may refuse larger bodies without reading them. */
const readBodyBytes = 64 * 1024;

export function createSender({ client, target, key, uri }: SenderOptions) {
  const answers: Answer[] = [];
  return {
    id: key.subscriberId,
    key,
    answers: answers as readonly Answer[],
    async send(action: Action, sending: Sending = {}): Promise<Answer> {
      const { now = new Date(), query } = sending;
      const filled = fillIn({}, { action, id: key.subscriberId, uri, now });
      const context: Record<string, unknown> = { ...(filled.context as JsonObject), ...sending.context };
      const isPost = action.method === 'POST';
      const body =
        sending.raw ?? Buffer.from(isPost ? JSON.stringify({ context, message: sending.message }) : '');
      const usual = signRequest(sending.key ?? key, body, signTimes(action.method, now));
      const authorization = sending.authorization ? sending.authorization(usual) : usual;
      const search = query ? `?${new URLSearchParams(query)}` : '';
      const response = await client
        .request(`${target.replace(/\/+$/, '')}${action.path}${search}`, {
          ...{ method: action.method, ...(isPost && { body }) },
          headers: {
            ...(isPost && { 'content-type': 'application/json' }),
            ...(authorization !== undefined && { authorization }),
          },
          ...{ timeoutMs: answerTimeoutMs, maxBytes: maxAnswerBytes, maxRedirects: 0 },
          operatorConfigured: true,
        })
        .catch((error) => noAnswer(action, error));
      const isReadable = isPost && sending.raw === undefined && body.length <= readBodyBytes;
      const answer: Answer = {
        ...{ action, status: response.status, body: parseIfJson(response.body) },
        ...{ messageId: String(context.messageId), digest: bodyDigest(body) },
        namesMessage: isReadable && context.messageId !== undefined,
        ...{ authorization: usual, ...(sending.message && { message: sending.message }) },
      };
      answers.push(answer);
      return answer;
    },
  };
}

function noAnswer({ method, path }: Action, error: unknown): never {
  if (!(error instanceof FetchFailure)) throw error;
  throw new CheckFailed(`${method} ${path} was not answered: ${error.message}`);
}
