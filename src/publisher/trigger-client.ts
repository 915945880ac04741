import type { GuardedClient } from '../http/guarded-client.ts';
import { type Json, parseJson } from '../protocol/json.ts';
import { type Nack, readNackBytes } from '../protocol/nack.ts';
import type { TriggerAnswer } from '../protocol/trigger-messages.ts';
import type { AwaitedRequest } from './relay.ts';

// Client of the local trigger, for the console and commands of this machine: the publisher may be another process.

const maxAnswerBytes = 64 * 1024 * 1024;

export interface Trigger {
  client: GuardedClient;
  url: string;
  token?: string;
}

type TriggerReply<T> = { kind: 'taken'; answer: T } | { kind: 'refused'; status: number; nack: Nack };

interface TriggerPublish {
  node: string;
  indexName?: string;
  /** The body: catalogs to publish, or a change to published ones, such as retire or pause. */
  request: object;
  timeoutMs: number;
}

/** Publishes signed files. Rejects with a FetchFailure if no publisher answers. */
export function publishByTrigger(trigger: Trigger, { node, indexName, request, timeoutMs }: TriggerPublish) {
  const query = new URLSearchParams({ node, ...(indexName !== undefined && { index: indexName }) });
  return post<TriggerAnswer>(trigger, `/catalog/publish?${query}`, request, timeoutMs);
}

/** Announces a request whose callback will arrive at the publisher. */
export function announceCallback(trigger: Trigger, awaited: AwaitedRequest, timeoutMs: number) {
  return post<Json>(trigger, '/callbacks', awaited, timeoutMs);
}

async function post<T>(
  { client, url, token }: Trigger,
  path: string,
  body: object,
  timeoutMs: number,
): Promise<TriggerReply<T>> {
  const answer = await client.request(`${url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
    ...{ timeoutMs, maxBytes: maxAnswerBytes, operatorConfigured: true },
  });
  const { status, body: said } = answer;
  if (status >= 300) return { kind: 'refused', status, nack: readNackBytes(said) };
  return { kind: 'taken', answer: (said.length === 0 ? null : parseJson(said)) as T };
}
