import type { GuardedClient } from '../http/guarded-client.ts';
import { isJsonObject, parseJson } from '../protocol/json.ts';
import type { TriggerAnswer } from '../protocol/trigger-messages.ts';

// The change signal (self-hosted spec: Events): after a publish that changed something, the discovery services of CRAWL_HINT_URLS are told to
// look sooner. They verify everything as always, and find it without a hint too, so that nothing here ever fails a publish.

const timeoutMs = 3_000;
const maxAnswerBytes = 64 * 1024;

export interface HintOptions {
  /** Base addresses of discovery services, as the operator wrote them. */
  urls: readonly string[];
  nodeId: string;
  client: GuardedClient;
}

/** The answer of a publish, with the discovery services that could not be told. */
export async function withCrawlHints(answer: TriggerAnswer, options: HintOptions): Promise<TriggerAnswer> {
  const hasChanged = answer.results.some(({ status, unchanged }) => status === 'ACCEPTED' && !unchanged);
  if (!hasChanged) return answer;
  const problems = await Promise.all(options.urls.map((url) => sendHint(url, options)));
  const warnings = [...(answer.warnings ?? []), ...problems.filter((problem) => problem !== undefined)];
  return warnings.length > 0 ? { ...answer, warnings } : answer;
}

/** Returns why the hint was not taken, if so. */
async function sendHint(url: string, { nodeId, client }: HintOptions): Promise<string | undefined> {
  const notTold = `The discovery service at ${url} was not told to look sooner`;
  try {
    const { status, body } = await client.request(`${url}/crawl-hints`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ nodeId }),
      timeoutMs,
      maxBytes: maxAnswerBytes,
      maxRedirects: 0,
      operatorConfigured: true,
    });
    return status < 300 ? undefined : `${notTold}: ${readReason(body) ?? `it answers ${status}.`}`;
  } catch (error) {
    return `${notTold}: ${error instanceof Error ? error.message : error}`;
  }
}

function readReason(body: Uint8Array): string | undefined {
  try {
    const answer = parseJson(body);
    const message = isJsonObject(answer) && isJsonObject(answer.message) ? answer.message : {};
    const error = isJsonObject(message.error) ? message.error : {};
    return typeof error.message === 'string' ? error.message : undefined;
  } catch {
    return undefined;
  }
}
