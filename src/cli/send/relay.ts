import type { Config } from '../../config.ts';
import type { Waited } from '../../delivery/receive-callback.ts';
import type { GuardedClient } from '../../http/guarded-client.ts';
import { endpoints } from '../../protocol/endpoints.ts';
import { identityOf } from '../../protocol/identity.ts';
import { CommandError } from '../command.ts';
import { tokenAdvice, tokenHeader, triggerAnswers } from '../trigger-client.ts';
import type { OwnAddress } from './address.ts';
import type { CallbackListener, ListenAddress, ListenerOptions } from './callback.ts';

// Where a command waits for its callback: itself, or through the running publisher of this machine when it signs as the publisher.

interface WaitingOptions extends Omit<ListenerOptions, 'address'> {
  address: OwnAddress;
  given: { listen?: ListenAddress };
  client: GuardedClient;
}

export async function openListener({
  address,
  given,
  client,
  ...options
}: WaitingOptions): Promise<CallbackListener> {
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
  const ask = async (
    method: 'GET' | 'POST',
    address: string,
    options: { body?: string; timeoutMs: number },
  ) => {
    const limits = { maxBytes: maxCallbackBytes, operatorConfigured: true };
    const answer = await client.request(address, { method, headers, ...limits, ...options });
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
      await ask('POST', waitingUrl, { body, timeoutMs: answerMs });
    },
    async wait(seconds, acknowledgedBy) {
      const query = new URLSearchParams({
        seconds: String(seconds),
        ...(acknowledgedBy !== undefined && { acknowledgedBy }),
      });
      const { body } = await ask('GET', `${place}?${query}`, { timeoutMs: seconds * 1_000 + answerMs });
      return JSON.parse(body.toString('utf8')) as Waited;
    },
    close: async () => {},
  };
}

const answerMs = 10_000;
const maxCallbackBytes = 64 * 1024 * 1024;
