import type { FastifyInstance } from 'fastify';
import type { PlainOperation } from '../http/openapi.ts';
import type { RateLimits } from '../http/signed-route.ts';
import { Acknowledgement } from '../protocol/acknowledgement.ts';
import { CrawlHint } from '../protocol/crawl-messages.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { identityOf } from '../protocol/identity.ts';
import { prepareValidator, validator } from '../protocol/validate.ts';
import { hintNode } from '../storage/crawl-hints.ts';
import type { DiscoveryContext } from './context.ts';

// POST /crawl-hints (self-hosted spec: Events, "an optional out-of-band change signal … that still requires the DS to verify everything"): a known
// node is crawled sooner. Anybody may say so, because nothing follows from it but a look, and that not often.

const spacingMs = 60_000;
const maxBodyBytes = 4 * 1024;

export function addCrawlHintsRoute(
  server: FastifyInstance,
  { sources }: Partial<RateLimits>,
  { database, config, now }: DiscoveryContext,
): void {
  prepareValidator(CrawlHint);
  server.post('/crawl-hints', { bodyLimit: maxBodyBytes, config: { operation } }, async (request) => {
    const waitSeconds = sources?.take(request.ip, performance.now()) ?? 0;
    if (waitSeconds > 0) throw tooOften(`Too many requests from ${request.ip}.`, waitSeconds);
    const { nodeId } = validator(CrawlHint)(request.body);
    const node = identityOf(nodeId, config.REGISTRY_NAME);
    const outcome = await database.transaction((tx) => hintNode(tx, node, { now: now(), spacingMs }));
    if (outcome.kind === 'unknown') {
      const message = `${nodeId} is not crawled here.`;
      throw new ProtocolError('CTX_INVALID_FIELD', message, { status: 404, path: '$.nodeId' });
    }
    if (outcome.kind === 'too-soon')
      throw tooOften(`A hint for ${nodeId} came just before.`, outcome.waitSeconds);
    const answer: Acknowledgement = { message: { status: 'ACK' } };
    return answer;
  });
}

function tooOften(message: string, retryAfterSeconds: number): ProtocolError {
  return new ProtocolError('AUT_RATE_LIMITED', message, { retryAfterSeconds });
}

const operation: PlainOperation = {
  summary: 'Say that a node has published something: it is crawled sooner, and verified as always.',
  description: 'Unsigned. Once per node and minute.',
  body: CrawlHint,
  answer: Acknowledgement,
  answers: {
    400: 'The body is wrong: SCH_…, with details.path.',
    404: 'CTX_INVALID_FIELD: the node is not crawled here.',
    429: 'AUT_RATE_LIMITED: a hint came less than a minute ago; Retry-After says when to come again.',
  },
};
