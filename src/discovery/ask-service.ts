import { attempt } from '../attempt.ts';
import { type AnswerToQuestion, exchangeSigned, type Question } from '../delivery/exchange.ts';
import { FetchFailure } from '../http/fetch-failure.ts';
import type { Action } from '../protocol/actions.ts';
import { fillIn } from '../protocol/fill-in.ts';
import { isJsonObject, parseJson } from '../protocol/json.ts';
import type { Static, TSchema } from '../protocol/type.ts';
import { validator } from '../protocol/validate.ts';
import { joinPath } from '../rules/base-address.ts';
import type { DiscoveryContext } from './context.ts';

// Sends requests to a configured catalog service. Anything other than a valid answer is a StepFailed.

/** A synchronization step failed temporarily and is tried again later. The message gives the reason, for the log and for operators. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { status?: number; retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

interface ServiceQuestion {
  action: Action;
  catalogUrl: string;
  /** The message of the envelope; GET and DELETE have none. */
  message?: object;
  query?: Record<string, string>;
  signal: AbortSignal;
  maxAnswerBytes?: number;
  beforeSending?(sent: { messageId: string; body: Buffer; authorization: string }): Promise<void>;
}

const defaultMaxAnswerBytes = 1024 * 1024;

export async function askService(context: DiscoveryContext, question: ServiceQuestion) {
  const { action, catalogUrl, message, query, signal } = question;
  const { self, hosting, client, registry, logger, now } = context;
  const { subscriberId: id } = self;
  const from = { action, id, uri: hosting.url, now: now() };
  const envelope = message && fillIn({ context: { bapId: id }, message }, from);
  const body = envelope ? Buffer.from(JSON.stringify(envelope)) : Buffer.alloc(0);
  const asked: Question = {
    method: action.method,
    url: `${joinPath(catalogUrl, action.path)}${query ? `?${new URLSearchParams(query)}` : ''}`,
    body,
    maxAnswerBytes: question.maxAnswerBytes ?? defaultMaxAnswerBytes,
    operatorConfigured: true,
    signal,
    beforeSending: async (authorization) =>
      envelope && question.beforeSending?.({ messageId: envelope.context.messageId, body, authorization }),
  };
  const sender = { key: self, client, findKey: registry.findKey, logger, now };
  const answer = await exchangeSigned(sender, asked).catch((error) => {
    if (error instanceof FetchFailure && error.kind !== 'aborted' && error.kind !== 'too-large')
      throw new StepFailed(error.message, { cause: error });
    throw error;
  });
  const { status, retryAfterMs } = answer;
  const nack = findNack(answer.body);
  if (status >= 200 && status < 300 && nack === undefined) return answer;
  const problem = `${action.name} was answered with ${status}${nack ? `: ${nack}` : ''}`;
  throw new StepFailed(problem, { status, retryAfterMs });
}

export function readAnswer<S extends TSchema>({ status, body }: AnswerToQuestion, schema: S): Static<S> {
  try {
    return validator(schema)(parseJson(body));
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new StepFailed(`the answer cannot be read: ${reason}`, { status, cause: error });
  }
}

/** The error of a NACK in words; only small bodies can be NACKs. */
function findNack(body: Buffer): string | undefined {
  if (body.length > 64 * 1024) return undefined;
  // A member that is no text may also fail.
  return attempt(() => {
    const { message } = JSON.parse(body.toString('utf8'));
    if (!isJsonObject(message) || message.status !== 'NACK') return undefined;
    const { error } = message;
    return isJsonObject(error) ? `${error.code} ${error.message}` : 'NACK';
  });
}
