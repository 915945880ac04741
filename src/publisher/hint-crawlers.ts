import { parseRetryAfter } from '../delivery/retry-policy.ts';
import type { GuardedClient } from '../http/guarded-client.ts';
import type { Logger } from '../logger.ts';
import { readNackBytes } from '../protocol/nack.ts';
import type { TriggerAnswer } from '../protocol/trigger-messages.ts';

// The change signal (self-hosted spec: Events): after a publish with changes, the discovery services of CRAWL_HINT_URLS get a hint to crawl
// soon. They verify everything as always, and find it without a hint too, so a failure here never fails a publish. A service accepts one hint
// per node and minute; for publishes in the rest of that minute, a second hint follows at the time that the service names.

const timeoutMs = 3_000;
const maxAnswerBytes = 64 * 1024;
const tooManyRequests = 429;
/** If a service wants a longer pause, no second hint is sent: it polls by then. */
const maxWaitMs = 5 * 60_000;

interface HintOptions {
  /** Base addresses of discovery services, as configured. */
  urls: readonly string[];
  nodeId: string;
  client: GuardedClient;
}

/** The answer of a publish, with the discovery services that could not be reached. */
export function withCrawlHints(answer: TriggerAnswer, options: HintOptions): Promise<TriggerAnswer> {
  return tellServices(answer, options, async (url) => problemWith(url, await sendHint(url, options)));
}

/** The hints of a long-running process. However much is published meanwhile, each service has at most one waiting hint. */
export function createCrawlHints(options: HintOptions & { logger: Logger }) {
  const waiting = new Map<string, NodeJS.Timeout>();

  async function sendLate(url: string): Promise<void> {
    waiting.delete(url);
    const outcome = await sendHint(url, options);
    // If another process sent a hint after us, the service crawls after our publish, too.
    if (outcome.kind === 'failed') options.logger.warn(problemWith(url, outcome));
  }

  async function tellOne(url: string): Promise<string | undefined> {
    const outcome = await sendHint(url, options);
    if (outcome.kind !== 'too-soon' || outcome.waitMs === undefined) return problemWith(url, outcome);
    if (!waiting.has(url)) waiting.set(url, setTimeout(sendLate, outcome.waitMs, url).unref());
    const seconds = Math.ceil(outcome.waitMs / 1_000);
    return `The discovery service at ${url} was notified a moment ago; it will be notified again in ${seconds} s.`;
  }

  return {
    /** Like `withCrawlHints`; a service that just got a hint gets another one later. */
    tell: (answer: TriggerAnswer) => tellServices(answer, options, tellOne),
    close() {
      for (const timer of waiting.values()) clearTimeout(timer);
      waiting.clear();
    },
  };
}

async function tellServices(
  answer: TriggerAnswer,
  { urls }: HintOptions,
  tellOne: (url: string) => Promise<string | undefined>,
): Promise<TriggerAnswer> {
  const hasChanged = answer.results.some(({ status, unchanged }) => status === 'ACCEPTED' && !unchanged);
  if (!hasChanged) return answer;
  const problems = await Promise.all(urls.map(tellOne));
  const warnings = [...(answer.warnings ?? []), ...problems.filter((problem) => problem !== undefined)];
  return warnings.length > 0 ? { ...answer, warnings } : answer;
}

type HintOutcome =
  | { kind: 'taken' }
  /** The service just got a hint. `waitMs` is undefined if the service names no time, or a late one. */
  | { kind: 'too-soon'; reason: string; waitMs?: number }
  | { kind: 'failed'; reason: string };

function problemWith(url: string, outcome: HintOutcome): string | undefined {
  if (outcome.kind === 'taken') return undefined;
  return `The discovery service at ${url} was not notified: ${outcome.reason}`;
}

async function sendHint(url: string, { nodeId, client }: HintOptions): Promise<HintOutcome> {
  try {
    const { status, headers, body } = await client.request(`${url}/crawl-hints`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ nodeId }),
      timeoutMs,
      maxBytes: maxAnswerBytes,
      maxRedirects: 0,
      operatorConfigured: true,
    });
    if (status < 300) return { kind: 'taken' };
    const reason = readNackBytes(body).message ?? `it answers ${status}.`;
    if (status !== tooManyRequests) return { kind: 'failed', reason };
    const waitMs = parseRetryAfter(headers['retry-after'], new Date());
    return { kind: 'too-soon', reason, ...(waitMs !== undefined && waitMs <= maxWaitMs && { waitMs }) };
  } catch (error) {
    return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
  }
}
