import type { FastifyInstance } from 'fastify';
import type { PlainOperation } from '../http/openapi.ts';
import { chargeRequest, createRateLimit, ofThisProcess } from '../http/rate-limit.ts';
import { invalidJson, refusalExample } from '../http/refusal-examples.ts';
import { sourceOf } from '../http/source.ts';
import { Acknowledgement } from '../protocol/acknowledgement.ts';
import { CrawlHint } from '../protocol/crawl-messages.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { provider } from '../protocol/example-catalog.ts';
import { identityOf, isSubscriberId } from '../protocol/identity.ts';
import { prepareValidator, validator } from '../protocol/validate.ts';
import { admitNode, hintNode, mayLookUp } from '../storage/crawl/hints.ts';
import { settlePrecedence } from '../storage/feeds/precedence.ts';
import type { DiscoveryContext } from './context.ts';
import { hostFor, isConsumer } from './crawl/enumerate.ts';

// POST /crawl-hints (self-hosted spec: Events): a node is crawled sooner, and verified as always, so anybody may send a hint.

const spacingMs = 60_000;
/** Maximum of unknown nodes that are looked up within `spacingMs`, for all senders together. */
const maxStrangers = 10;
const maxBodyBytes = 4 * 1024;
/** Rate of hints from one unsigned source. A host of many nodes may publish all of them at once. */
const perSource = { perSecond: 10, burst: 200 };

export function addCrawlHintsRoute(server: FastifyInstance, context: DiscoveryContext): void {
  const { database, config, hosting } = context;
  const { shareLimit = ofThisProcess } = hosting;
  const isLimited = config.RATE_LIMIT_PER_SECOND > 0;
  const limit = createRateLimit(isLimited ? perSource : { ...perSource, perSecond: 0 });
  const sources = shareLimit('crawl hints', limit);
  prepareValidator(CrawlHint);
  server.post('/crawl-hints', { bodyLimit: maxBodyBytes, config: { operation } }, async (request) => {
    chargeRequest(sources, sourceOf(request.ip));
    const { nodeId } = validator(CrawlHint)(request.body);
    const node = identityOf(nodeId, config.REGISTRY_NAME);
    const hint = () => database.transaction((tx) => hintNode(tx, node, spacingMs));
    let outcome = await hint();
    if (outcome.kind === 'unknown' && (await admitStranger(context, node))) outcome = await hint();
    if (outcome.kind === 'unknown') {
      const message = `${nodeId} is not crawled here.`;
      throw new ProtocolError('CTX_INVALID_FIELD', message, { status: 404, path: '$.nodeId' });
    }
    if (outcome.kind === 'too-soon') {
      const options = { retryAfterSeconds: outcome.waitSeconds };
      throw new ProtocolError('AUT_RATE_LIMITED', `A hint for ${nodeId} came a moment ago.`, options);
    }
    const answer: Acknowledgement = { message: { status: 'ACK' } };
    return answer;
  });
}

/** Starts crawling a node if one of the configured networks has it; returns whether one does. */
async function admitStranger({ database, registry, config }: DiscoveryContext, node: string) {
  const { DISCOVERY_NETWORKS } = config;
  if (DISCOVERY_NETWORKS.length === 0 || !isSubscriberId(node)) return false;
  const limits = { windowMs: spacingMs, maxNames: maxStrangers };
  if (!(await database.transaction((tx) => mayLookUp(tx, node, limits)))) return false;
  const records = (await registry.findSubscriber(node)).filter((record) => !isConsumer(record));
  const networks = DISCOVERY_NETWORKS.filter((network) =>
    records.some(({ networkMemberships }) => networkMemberships.includes(network)),
  );
  if (networks.length === 0) return false;
  await database.transaction(async (tx) => {
    const named = { node, host: hostFor(node, records) };
    await settlePrecedence(tx, await admitNode(tx, named, networks));
  });
  return true;
}

export const operation: PlainOperation = {
  id: 'hintCrawl',
  summary: 'Report that a node has published something: it is crawled sooner, and verified as always.',
  description:
    'Unsigned. Once per node and minute. A node that is not known yet is looked up in the registry, at most ten a minute, and crawled if it belongs to a network that is crawled.',
  body: CrawlHint,
  answer: Acknowledgement,
  examples: {
    bodies: { hint: { summary: 'A node has published', value: { nodeId: provider.bppId } } },
    answer: { message: { status: 'ACK' } },
  },
  answers: {
    400: 'The body is wrong: SCH_…, with details.path.',
    404: 'CTX_INVALID_FIELD: the node is not crawled here, and belongs to no network that is crawled.',
    413: 'SCH_SCHEMA_VALIDATION_FAILED: the body has more than 4 KiB.',
    415: 'SCH_SCHEMA_VALIDATION_FAILED: the body is not application/json.',
    429: 'AUT_RATE_LIMITED: a hint came less than a minute ago; Retry-After says when to try again.',
  },
  refusals: [
    invalidJson('{"nodeId":'),
    ['missing', 'No node is named', 'nodeId'],
    ['format', 'The name of the node is empty', 'nodeId', ''],
    ['type', 'The node is a number', 'nodeId', 7],
    ['unknownMember', 'An unknown member', 'since', '2026-01-31'],
    refusalExample(
      'unknownNode',
      'No network that is crawled has such a node',
      ['CTX_INVALID_FIELD', 'grocer.example.org is not crawled here.', { status: 404, path: '$.nodeId' }],
      { at: ['nodeId'], value: 'grocer.example.org' },
    ),
    refusalExample('large', 'Too large', [
      'SCH_SCHEMA_VALIDATION_FAILED',
      'Request body is too large',
      { status: 413 },
    ]),
    refusalExample('mediaType', 'It is sent as a form', [
      'SCH_SCHEMA_VALIDATION_FAILED',
      'The body must be application/json.',
      { status: 415 },
    ]),
    refusalExample('often', 'Two hints within a minute', [
      'AUT_RATE_LIMITED',
      `A hint for ${provider.bppId} came a moment ago.`,
    ]),
  ],
};
