import type { FastifyInstance } from 'fastify';
import { rememberAnswer } from '../delivery/remember-answer.ts';
import { type Answer, type SignedService, signedRoute, type VerifiedRequest } from '../http/signed-route.ts';
import { ack } from '../protocol/acknowledgement.ts';
import { actions } from '../protocol/actions.ts';
import type { Catalog } from '../protocol/catalog.ts';
import { ProtocolError } from '../protocol/errors.ts';
import type { PublishDirective } from '../protocol/publish-messages.ts';
import { parseInstant } from '../protocol/time.ts';
import { matchesInterest, schemaTypesOf } from '../rules/match.ts';
import { type SchemaAliases, schemaIdentities } from '../rules/schema-address.ts';
import { type IndexWriter, writeIndex } from '../search/port.ts';
import type { Transaction } from '../storage/database.ts';
import { inParts, lockCopies, notePushed } from '../storage/feeds/copies.ts';
import { doubtSubscriptions, requestPull, type SubscribedFeed } from '../storage/feeds/feeds.ts';
import { traced } from '../telemetry/tracing.ts';
import { applyCopies, ownerOf, sourceOf } from './apply-copies.ts';
import type { DiscoveryContext } from './context.ts';
import { findFeedsOf } from './services.ts';
import { checkEveryMs } from './subscription-steps.ts';

// Receives pushes (catalog spec: POST /catalog/push). Everything happens before the answer, in one transaction with the idempotency record:
// acknowledged catalogs can be found, and repeats have no effect. Beyond the locks of a transaction, the first ones are applied earlier, in parts.
//
//   200   applied; also if a newer push of the same catalog was applied before
//   202   BIZ_NO_RESULTS_FOUND: no catalog is held from that sender or matches an active subscription; the subscriptions are then checked
//   400, 401, 429, 500   from the signed route; afterwards the service is pulled, because something may be missing now

export function addPushRoute(
  server: FastifyInstance,
  service: SignedService,
  context: DiscoveryContext,
  aside: { receive(request: VerifiedRequest<typeof actions.push>): Promise<Answer> },
): void {
  const ingest = (request: VerifiedRequest<typeof actions.push>) =>
    traced(
      'ingest',
      () => ({
        scope: 'internal',
        parent: request.traceparent,
        attributes: { message_id: request.context.messageId },
      }),
      () => aside.receive(request),
    );
  signedRoute(server, service, actions.push, ingest);
  server.addHook('onResponse', async (request, reply) => {
    const { routeOptions, identity } = request;
    // Without a signer (''), nothing is missing: an unsigned push must not cost a transaction.
    if (routeOptions.config.action !== actions.push || reply.statusCode < 400 || identity === '') return;
    const reason = `a push was answered with ${reply.statusCode}`;
    await context.database
      .transaction((tx) => askForPull(tx, context, identity, reason))
      .catch((error) => context.logger.warn({ err: error }, 'cannot ask for a pull'));
  });
}

type ReceivingContext = Pick<DiscoveryContext, 'config' | 'database' | 'logger' | 'now'>;

/** Pulls after events are at least this many usual first delays apart. */
const spacingFactor = 10;

async function askForPull(
  tx: Transaction,
  { config, logger }: ReceivingContext,
  service: string,
  reason: string,
): Promise<void> {
  const spacingMs = config.RETRY_BASE_MS * spacingFactor;
  const feeds = await requestPull(tx, { service, spacingMs });
  if (feeds > 0) logger.info({ service, reason }, 'everything will be pulled');
}

export async function receivePush(context: ReceivingContext, request: VerifiedRequest<typeof actions.push>) {
  const { identity: service } = request;
  const { messageId } = request.context;
  const parts = [...inParts(pushedCatalogs(request.message, context.config.DEFAULT_NETWORK_ID))];
  const last = parts.pop() ?? [];
  const inTransaction = <T>(work: (tx: Transaction, writer: IndexWriter) => Promise<T>): Promise<T> =>
    context.database.transaction((tx) => writeIndex(tx, context.now(), (writer) => work(tx, writer)));
  let isAnyWanted = false;
  for (const part of parts) {
    const isWanted = await inTransaction((tx, writer) => applyPush(tx, writer, context, request, part));
    isAnyWanted ||= isWanted;
  }
  return inTransaction(async (tx, writer) => {
    const processed = (await applyPush(tx, writer, context, request, last)) || isAnyWanted;
    // An unexpected push: the subscriptions may be wrong.
    const spacingMs = context.config.RETRY_BASE_MS * spacingFactor;
    if (!processed) await doubtSubscriptions(tx, service, { everyMs: checkEveryMs, spacingMs });
    const says = `No active subscription with ${service} matches, and none of its catalogs is kept here.`;
    const unwanted = processed ? undefined : new ProtocolError('BIZ_NO_RESULTS_FOUND', says);
    const answer = { status: processed ? 200 : 202, body: JSON.stringify(ack(messageId, unwanted)) };
    await rememberAnswer(tx, request, answer, { open: false });
    return answer;
  });
}

interface PushedCatalog {
  catalog: Catalog;
  directive: Required<Pick<PublishDirective, 'catalogType' | 'updateMode' | 'visibleTo'>>;
}

/** False if nothing in it is wanted here. */
async function applyPush(
  tx: Transaction,
  writer: IndexWriter,
  context: ReceivingContext,
  request: VerifiedRequest<typeof actions.push>,
  pushed: readonly PushedCatalog[],
): Promise<boolean> {
  const { config, logger } = context;
  const { identity: service, record, receivedAt } = request;
  const source = sourceOf(service);
  const pushedAt = parseInstant(request.context.timestamp) ?? receivedAt;
  const feeds = await findFeedsOf(tx, service, record);
  const ids = pushed.map(({ catalog }) => catalog.id);
  const held = await lockCopies(tx, source, ids);
  const wanted = pushed.filter(
    (one) => held.has(one.catalog.id) || matchesAny(feeds, one, config.SCHEMA_ALIASES),
  );
  const current = wanted.filter(({ catalog }) => (held.get(catalog.id)?.pushed_at ?? pushedAt) <= pushedAt);
  if (current.length < wanted.length)
    logger.info({ service, messageId: request.context.messageId }, 'an older push came after a newer one');

  const applied = await applyCopies(
    { tx, writer, logger },
    current.map(({ catalog, directive }) => ({
      source,
      owner: ownerOf(catalog, service, config.REGISTRY_NAME),
      type: directive.catalogType,
      networks: directive.visibleTo,
      catalog,
      mode: directive.updateMode,
      pushedAt,
    })),
    held,
  );
  const modes = new Map(current.map(({ catalog, directive }) => [catalog.id, directive.updateMode]));
  const isMerged = (id: string) => modes.get(id) === 'MERGE';
  const notes = applied.map(({ key, id }) => ({ key, merged: isMerged(id) }));
  await notePushed(tx, notes);
  const incomplete = applied.filter(({ id }) => isMerged(id) && !held.has(id)).map(({ id }) => id);
  if (incomplete.length > 0)
    await askForPull(tx, context, service, `a part of catalogs came that are not stored here: ${incomplete}`);
  return wanted.length > 0;
}

/** Each catalog with its directive, or the defaults. */
function pushedCatalogs(
  { catalogs, publishDirectives = [] }: VerifiedRequest<typeof actions.push>['message'],
  defaultNetwork: string,
): PushedCatalog[] {
  const directives = new Map(publishDirectives.map((directive) => [directive.catalogId, directive]));
  return catalogs.map((catalog) => {
    const given: Partial<PublishDirective> = directives.get(catalog.id) ?? {};
    const { catalogType = 'REGULAR', updateMode = 'MERGE', visibleTo = [defaultNetwork] } = given;
    return { catalog, directive: { catalogType, updateMode, visibleTo } };
  });
}

function matchesAny(
  feeds: readonly SubscribedFeed[],
  { catalog, directive }: PushedCatalog,
  aliases: SchemaAliases,
): boolean {
  const matchable = { networkIds: directive.visibleTo, schemaTypes: schemaTypesOf(catalog) };
  return feeds.some(({ subscribed, network_id: networkId, schema_types: asked }) => {
    const networkIds = networkId === '' ? [] : [networkId];
    const interest = { networkIds, schemaTypes: schemaIdentities(asked, aliases) };
    return subscribed && matchesInterest(interest, matchable);
  });
}
