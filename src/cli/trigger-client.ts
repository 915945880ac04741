import type { Config } from '../config.ts';
import { FetchFailure, type GuardedClient } from '../http/guarded-client.ts';
import { isJsonObject, parseJson } from '../protocol/json.ts';
import { publishByTrigger } from '../publisher/trigger-client.ts';
import { findTriggerToken, tokenFile } from '../publisher/trigger-token.ts';
import { CommandError, explainError, reasonOf } from './command.ts';
import { withRegistry } from './send/exchange.ts';
import { describeNack } from './send/report.ts';

const probeMs = 2_000;
const publishMs = 60 * 60_000;
const maxAnswerBytes = 64 * 1024 * 1024;

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

/** The trigger's answer; undefined if none runs here. */
export async function askTrigger(config: Config, request: object, indexName?: string) {
  return withRegistry(config, async (_registry, client) => {
    if (!(await triggerAnswers(config, client))) return undefined;
    const trigger = { client, url: config.triggerUrl, token: readToken(config) };
    const node = config.identities.publisher.id;
    const asked = { node, indexName, request, timeoutMs: publishMs };
    const reply = await publishByTrigger(trigger, asked).catch(
      explainError(FetchFailure, ({ message }) => `The publisher did not answer: ${message}`),
    );
    if (reply.kind === 'taken') return reply.answer;
    const { code, reason } = describeNack(reply.nack);
    const advice = reply.status === 401 ? ` ${tokenAdvice(config)}` : '';
    throw new CommandError(`The publisher refused this, ${reply.status} ${code}: ${reason}${advice}`);
  });
}

/** Empty without a token: the running publisher may require none. */
export function tokenHeader(config: Config): Record<string, string> {
  const token = readToken(config);
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

function readToken(config: Config): string | undefined {
  try {
    return findTriggerToken(config);
  } catch (error) {
    throw new CommandError(
      `A publisher runs on this machine, and the token of its trigger cannot be read: ${reasonOf(error)}. ` +
        'Run this as the user that runs the publisher, or set PUBLISHER_TRIGGER_TOKEN.',
      error,
    );
  }
}

/** Advice if the publisher rejected or missed the command's token. */
export function tokenAdvice(config: Config): string {
  const { PUBLISHER_TRIGGER_TOKEN: given } = config;
  if (given === 'off') return 'This command sent none, because of PUBLISHER_TRIGGER_TOKEN=off.';
  if (given !== undefined) return 'This command sent the value of PUBLISHER_TRIGGER_TOKEN.';
  const done = findTriggerToken(config) === undefined ? 'found none in' : 'sent the one in';
  return `This command ${done} ${tokenFile(config)}: set PUBLISHER_DIR to the publisher's directory, or PUBLISHER_TRIGGER_TOKEN. The publisher reads a new file when it restarts.`;
}
