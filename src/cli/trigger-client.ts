import type { Config } from '../config.ts';
import { createGuardedClient, FetchFailure, type GuardedClient } from '../http/guarded-client.ts';
import { isJsonObject, parseJson } from '../protocol/json.ts';
import type { TriggerAnswer } from '../protocol/trigger-messages.ts';
import { CommandError } from './command.ts';
import { readRefusal } from './send-report.ts';

// The publisher's local trigger, as the commands of this machine call it.

const probeMs = 2_000;
const publishMs = 60 * 60_000;
const maxAnswerBytes = 64 * 1024 * 1024;

/** Whether a publisher of this machine runs and takes requests. */
export async function triggerAnswers({ triggerUrl }: Config, client: GuardedClient): Promise<boolean> {
  try {
    const { status, body } = await client.request(`${triggerUrl}/health`, {
      timeoutMs: probeMs,
      maxBytes: maxAnswerBytes,
      operatorConfigured: true,
    });
    const health = status === 200 ? parseJson(body) : undefined;
    return isJsonObject(health) && Array.isArray(health.roles) && health.roles.includes('trigger');
  } catch {
    return false;
  }
}

/** The trigger's answer; undefined when none runs here. */
export async function askTrigger(
  config: Config,
  request: object,
  indexName?: string,
): Promise<TriggerAnswer | undefined> {
  const client = createGuardedClient({ allowPrivateAddresses: true });
  try {
    if (!(await triggerAnswers(config, client))) return undefined;
    const node = config.identities.publisher.id;
    const query = new URLSearchParams({ node, ...(indexName !== undefined && { index: indexName }) });
    const { status, body } = await client.request(`${config.triggerUrl}/catalog/publish?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
      timeoutMs: publishMs,
      maxBytes: maxAnswerBytes,
      operatorConfigured: true,
    });
    const answer = parseJson(body);
    if (status !== 200) {
      const { code, reason } = readRefusal(answer);
      throw new CommandError(`The publisher refused this, ${status} ${code}: ${reason}`);
    }
    return answer as unknown as TriggerAnswer;
  } catch (error) {
    if (error instanceof FetchFailure)
      throw new CommandError(`The publisher did not answer: ${error.message}`, error);
    throw error;
  } finally {
    await client.close();
  }
}
