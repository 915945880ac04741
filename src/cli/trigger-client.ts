import type { Config } from '../config.ts';
import { createGuardedClient, FetchFailure, type GuardedClient } from '../http/guarded-client.ts';
import { isJsonObject, parseJson } from '../protocol/json.ts';
import type { TriggerAnswer } from '../protocol/trigger-messages.ts';
import { findTriggerToken, tokenFile } from '../publisher/trigger-token.ts';
import { CommandError } from './command.ts';
import { readRefusal } from './send/report.ts';

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
  const client = createGuardedClient({ allowPrivateAddresses: true, nameServers: config.DNS_SERVERS });
  try {
    if (!(await triggerAnswers(config, client))) return undefined;
    const node = config.identities.publisher.id;
    const query = new URLSearchParams({ node, ...(indexName !== undefined && { index: indexName }) });
    const { status, body } = await client.request(`${config.triggerUrl}/catalog/publish?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...tokenHeader(config) },
      body: JSON.stringify(request),
      timeoutMs: publishMs,
      maxBytes: maxAnswerBytes,
      operatorConfigured: true,
    });
    const answer = parseJson(body);
    if (status !== 200) {
      const { code, reason } = readRefusal(answer);
      const advice = status === 401 ? ` ${tokenAdvice(config)}` : '';
      throw new CommandError(`The publisher refused this, ${status} ${code}: ${reason}${advice}`);
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

/** Nothing where there is no token: the publisher that runs may ask for none. */
export function tokenHeader(config: Config): Record<string, string> {
  try {
    const token = findTriggerToken(config);
    return token === undefined ? {} : { authorization: `Bearer ${token}` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new CommandError(
      `A publisher runs on this machine, and the token of its trigger cannot be read: ${reason}. ` +
        'Run this as the user that runs the publisher, or set PUBLISHER_TRIGGER_TOKEN.',
      error,
    );
  }
}

/** For a publisher that did not take the token of this command, or got none. */
export function tokenAdvice(config: Config): string {
  const { PUBLISHER_TRIGGER_TOKEN: given } = config;
  if (given === 'off') return 'This command sent none, because of PUBLISHER_TRIGGER_TOKEN=off.';
  if (given !== undefined) return 'This command sent what PUBLISHER_TRIGGER_TOKEN says here.';
  const done = findTriggerToken(config) === undefined ? 'found none in' : 'sent the one in';
  return `This command ${done} ${tokenFile(config)}: set PUBLISHER_DIR as the publisher has it, or PUBLISHER_TRIGGER_TOKEN; a new file counts once the publisher was restarted.`;
}
