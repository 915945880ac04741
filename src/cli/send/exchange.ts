import type { Config } from '../../config.ts';
import { createGuardedClient, FetchFailure, type GuardedClient } from '../../http/guarded-client.ts';
import { createRegistryClient, type RegistryClient } from '../../registry/client.ts';
import { silentLogger } from '../../silent-logger.ts';
import { CommandError } from '../command.ts';
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
