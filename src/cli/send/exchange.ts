import type { Config } from '../../config.ts';
import { createGuardedClient, FetchFailure, type GuardedClient } from '../../http/guarded-client.ts';
import { createRegistryClient, type RegistryClient } from '../../registry/client.ts';
import { silentLogger } from '../../silent-logger.ts';
import { explainError } from '../command.ts';
import { readAnswer } from './report.ts';
import { buildRequest, prepareDraft, type SendableRequest } from './request.ts';
import { resolveSigner, type SignerOptions } from './signer.ts';

const answerTimeoutMs = 30_000;
const maxAnswerBytes = 64 * 1024 * 1024;

/** The user typed the addresses, so they are not guarded. */
export async function withRegistry<T>(
  config: Config,
  work: (registry: RegistryClient, client: GuardedClient) => Promise<T>,
): Promise<T> {
  const { registryUrl: url, REGISTRY_NAME: registryName, DNS_SERVERS: nameServers } = config;
  const client = createGuardedClient({ allowPrivateAddresses: true, fewCalls: true, nameServers });
  const registry = createRegistryClient({ url, registryName, client, logger: silentLogger() });
  try {
    return await work(registry, client);
  } finally {
    await client.close();
  }
}

export async function exchange(request: SendableRequest, registry: RegistryClient, client: GuardedClient) {
  const { method, url, body, authorization, signature } = request;
  const answered = client.request(url, {
    method,
    headers: { authorization, ...(body.length > 0 && { 'content-type': 'application/json' }) },
    body: body.length > 0 ? body : undefined,
    timeoutMs: answerTimeoutMs,
    maxBytes: maxAnswerBytes,
    maxRedirects: 0,
    operatorConfigured: true,
  });
  const start = ' Is signpost running? Start it with: npm start';
  const explain = ({ kind, message }: FetchFailure) => (kind === 'unreachable' ? message + start : message);
  return readAnswer(await answered.catch(explainError(FetchFailure, explain)), signature, registry);
}

interface Errand extends SignerOptions {
  to: string;
  action: string;
  message: object;
  uri: string;
}

export async function sendMessage(config: Config, { to, action, message, uri, ...signer }: Errand) {
  const bytes = Buffer.from(JSON.stringify({ message }));
  const draft = prepareDraft({ to, method: 'POST', action, bytes });
  const request = buildRequest(draft, { self: resolveSigner(signer, config), uri, now: new Date() });
  return withRegistry(config, (registry, client) => exchange(request, registry, client));
}
