import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import { exchange, startDeadline } from '../../http/exchange.ts';
import { Agent } from '../../http/undici.ts';
import { SearchIndexUnavailable } from '../../storage/unavailable.ts';
import type { Deadline } from '../deadline.ts';

// Requests to OpenSearch. If a node does not answer, the next is asked. All requests may be repeated, because writes have a version (feed.ts).

export type OpenSearch = ReturnType<typeof connectOpenSearch>;

interface Asked {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD';
  /** An object, or JSON texts, each sent as a line. */
  body?: object | readonly string[];
  timeoutMs?: number;
}

/** A machine that is gone refuses no connection. */
const connectMs = 2_000;
const defaultTimeoutMs = 60_000;
/** A node that did not answer is asked last for this time. */
const restMs = 60_000;
/** A cluster that lost a node needs a moment, so all nodes are asked again after this time, while time is left. */
const againMs = 200;
const againWithinMs = 3_000;

export function connectOpenSearch(config: Config) {
  const { OPENSEARCH_URL: nodes, OPENSEARCH_CA_FILE: caFile, OPENSEARCH_PREFIX: prefix } = config;
  const ca = caFile === undefined ? undefined : readFileSync(caFile);
  const agent = new Agent({ connections: 32, connect: { timeout: connectMs, ...(ca && { ca }) } });
  const authorization = authorize(config);
  const failedAt = new Map<string, number>();
  let next = 0;

  function inOrder(): string[] {
    next = (next + 1) % nodes.length;
    const turned = [...nodes.slice(next), ...nodes.slice(0, next)];
    const isResting = (node: string) => performance.now() - (failedAt.get(node) ?? -restMs) < restMs;
    return [...turned.filter((node) => !isResting(node)), ...turned.filter(isResting)];
  }

  async function send(node: string, path: string, { method = 'POST', body }: Asked, timeoutMs: number) {
    const isLines = Array.isArray(body);
    const type = isLines ? 'application/x-ndjson' : 'application/json';
    const url = new URL(node);
    const deadline = startDeadline(url, { timeoutMs });
    const request = {
      ...{ origin: url.origin, method, path: `${url.pathname.replace(/\/$/, '')}${path}` },
      headers: { ...(authorization && { authorization }), ...(body && { 'content-type': type }) },
      ...(body && { body: isLines ? `${body.join('\n')}\n` : JSON.stringify(body) }),
    };
    const limitBody = () => ({ maxBytes: Number.POSITIVE_INFINITY });
    return exchange(agent, request, { deadline, limitBody }).finally(deadline.clear);
  }

  return {
    prefix,
    shards: config.OPENSEARCH_SHARDS,
    /** Throws SearchIndexUnavailable if no node answers in time or our credentials are refused, and RefusedByOpenSearch. */
    async ask<T = unknown>(path: string, asked: Asked = {}): Promise<T> {
      const { timeoutMs = defaultTimeoutMs } = asked;
      const end = performance.now() + timeoutMs;
      const giveUpAt = Math.min(end, performance.now() + againWithinMs);
      for (;;) {
        let problem: unknown;
        for (const [index, node] of inOrder().entries()) {
          // Half of the time is left for the other nodes.
          const shareMs = Math.max(1, end - performance.now()) / (index + 1 < nodes.length ? 2 : 1);
          try {
            const { status, body } = await send(node, path, asked, shareMs);
            const text = body.toString();
            if (status < 400) return text === '' ? (undefined as T) : JSON.parse(text);
            problem = new RefusedByOpenSearch(status, text);
            // The others are answers of a node that is overloaded, is starting, or lacks a shard.
            if (status !== 429 && status < 500) throw problem;
          } catch (error) {
            if (error instanceof RefusedByOpenSearch)
              throw [401, 403].includes(error.status) ? new SearchIndexUnavailable(error) : error;
            problem = error;
          }
          failedAt.set(node, performance.now());
          if (performance.now() >= end) break;
        }
        if (performance.now() + againMs >= giveUpAt) throw new SearchIndexUnavailable(problem);
        await delay(againMs);
      }
    },
    close: () => agent.close(),
  };
}

/** Requests that share one time limit. */
export function withinTime(client: OpenSearch, { remainingMs, check }: Deadline): OpenSearch {
  const ask = <T>(path: string, asked?: Asked) =>
    client.ask<T>(path, { ...asked, timeoutMs: remainingMs() }).catch((error) => {
      check();
      throw error;
    });
  return { ...client, ask };
}

function authorize(config: Config): string | undefined {
  const { OPENSEARCH_API_KEY: key, OPENSEARCH_USER: user, OPENSEARCH_PASSWORD: password = '' } = config;
  if (key !== undefined) return `ApiKey ${key}`;
  return user && `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

export class RefusedByOpenSearch extends Error {
  override readonly name = 'RefusedByOpenSearch';
  readonly status: number;

  constructor(status: number, answer: string) {
    super(`OpenSearch answered ${status}: ${answer.slice(0, 500)}`);
    this.status = status;
  }
}
