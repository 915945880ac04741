import type { Config } from '../config.ts';
import type { Logger } from '../logger.ts';
import { actions } from '../protocol/actions.ts';
import { type Context, callbackContext } from '../protocol/context.ts';
import type { PublishMessage } from '../protocol/publish-messages.ts';
import { type InheritanceSettings, inheritanceLimitsOf } from '../rules/inherited-bytes.ts';
import { processCatalog } from '../rules/publish.ts';
import { type Publisher, type Submission, submissionsOf } from '../rules/submission.ts';
import type { SchemaStore } from '../schemas/schema-store.ts';
import {
  AlreadyApplied,
  finishSubmission,
  type OpenSubmission,
  readResults,
  readSubmissionBody,
  recordResult,
} from '../storage/catalog/submissions.ts';
import { isTransient } from '../storage/connection.ts';
import type { Database, Transaction } from '../storage/database.ts';
import { DatabaseUnavailable } from '../storage/unavailable.ts';
import { queueCallback } from '../storage/work/callbacks.ts';
import { findWarnings } from './find-warnings.ts';
import { loadKnown, supplyTemplates } from './load-known.ts';
import { writeCatalog } from './write-catalog.ts';

// Applies an accepted publish: one catalog after the other, each in a transaction that also writes its result. The transaction of the last one queues
// catalog/on_publish. An interrupted run continues where it stopped.

/** Attempts after which a catalog that keeps failing is rejected. */
const maxAttempts = 5;

/** Its context, in the process or in a thread (apply-aside.ts). */
export interface ApplyingContext {
  config: Pick<Config, 'REGISTRY_NAME' | 'DEFAULT_NETWORK_ID' | 'RETRY_HOURS' | 'PUBLISH_WARNINGS'> &
    InheritanceSettings;
  database: Database;
  schemas: Pick<SchemaStore, 'checker'>;
  logger: Logger;
  now(): Date;
}

export interface Turn {
  signal: AbortSignal;
  /** How often the lane was claimed without progress. */
  attempts: number;
  /** On the clock of performance.now(). */
  endsAt: number;
  /** A catalog that inherits more bytes throws TooMuchHere. */
  maxInherited?: number;
  /** The publish needed too much memory or time: the rest of it is rejected. */
  tooMuch?: 'memory' | 'time';
}

/** As stored: the publisher's own id and address are filled in if it omitted them. */
type ProviderContext = Context & { bppId: string; bppUri: string };

/** Returns whether it is done. If not, its turn is over, and the next turn continues with the rest. */
export async function applySubmission(
  context: ApplyingContext,
  submission: OpenSubmission,
  message: PublishMessage,
  { signal, attempts, endsAt, maxInherited, tooMuch }: Turn,
): Promise<boolean> {
  const { database, config } = context;
  const requestContext: ProviderContext = JSON.parse(submission.context);
  const publisher: Publisher = {
    identity: submission.publisher,
    recordSubscriberId: submission.recordSubscriberId,
    registryName: config.REGISTRY_NAME,
    bppId: requestContext.bppId,
    bppUri: requestContext.bppUri,
  };
  const parts = submissionsOf(message, config.DEFAULT_NETWORK_ID);
  const open = parts.filter(({ position }) => !submission.done.includes(position));
  let { inheritedBytes } = submission;
  for (const part of open) {
    signal.throwIfAborted();
    // At least one catalog per turn; otherwise a short turn would make no progress.
    if (part !== open[0] && performance.now() >= endsAt) return false;
    const isLast = part === open.at(-1);
    const apply = (work: (tx: Transaction) => Promise<void>) =>
      database
        .transaction(async (tx) => {
          await work(tx);
          if (isLast) await finish(tx, context, submission, requestContext);
        })
        .catch((error) => {
          if (!(error instanceof AlreadyApplied)) throw error;
        });
    const giveUp = (err: unknown, problem?: string) => {
      const { id: catalogId } = part.catalog;
      context.logger.error({ err, catalogId, problem }, 'a catalog cannot be processed; it is rejected');
      return apply((tx) => reject(tx, submission.id, part, problem));
    };
    if (tooMuch) {
      await giveUp(undefined, `it takes too much ${tooMuch}. Publish fewer resources at a time`);
      continue;
    }
    let inherited = 0;
    await apply(async (tx) => {
      const catalog = { submission, part, parts, publisher, inheritedBytes, maxInherited };
      inherited = await applyCatalog(tx, context, catalog);
    }).catch((error) => {
      if (attempts < maxAttempts || error instanceof DatabaseUnavailable || isTransient(error)) throw error;
      return giveUp(error);
    });
    inheritedBytes += inherited;
  }
  return true;
}

/** A publish that fails repeatedly must not block later ones of its publisher for ever. */
async function reject(
  tx: Transaction,
  submissionId: number,
  { catalog, position }: Submission,
  problem: string | undefined,
): Promise<void> {
  const message = `The catalog could not be processed${problem ? `: ${problem}` : ''}.`;
  const error = { code: 'NET_INTERNAL_ERROR', message };
  const result = JSON.stringify({ catalogId: catalog.id, status: 'REJECTED', errors: [error] });
  await recordResult(tx, submissionId, { position, catalogId: catalog.id, result });
}

interface OpenCatalog extends Pick<Turn, 'maxInherited'> {
  submission: OpenSubmission;
  part: Submission;
  parts: readonly Submission[];
  publisher: Publisher;
  inheritedBytes: number;
}

async function applyCatalog(
  tx: Transaction,
  context: ApplyingContext,
  { submission, part, parts, publisher, inheritedBytes: before, maxInherited }: OpenCatalog,
): Promise<number> {
  const { identity } = publisher;
  const { stored, known } = await loadKnown(tx, part, { publisher: identity, inheritedBytes: before });
  const rules = { checker: context.schemas.checker(), limits: inheritanceLimitsOf(context.config) };
  const steps = processCatalog(part, publisher, known, rules);
  const { result, change, inheritedBytes } = await supplyTemplates(tx, stored, steps, maxInherited);
  // Before the write: after it, the resources that a FULL removes are gone.
  const warnings = await findWarnings(tx, context, { submission, part, parts, stored });
  if (change !== undefined) {
    const isTakenOver = stored !== undefined && stored.owner === null;
    await writeCatalog(tx, {
      ...{ stored, change, isTakenOver },
      replaced: known.extensions,
      publisher: identity,
      submissionId: submission.id,
      now: context.now(),
      traceparent: submission.traceparent,
    });
  }
  await recordResult(tx, submission.id, {
    position: part.position,
    catalogId: part.catalog.id,
    result: JSON.stringify(result),
    warnings: warnings.length > 0 ? JSON.stringify(warnings) : undefined,
    inheritedBytes,
  });
  return inheritedBytes;
}

/** One callback per request, after all its catalogs (catalog spec: POST /catalog/on_publish). */
async function finish(
  tx: Transaction,
  { config, now }: ApplyingContext,
  submission: OpenSubmission,
  requestContext: ProviderContext,
): Promise<void> {
  const at = now();
  const results = (await readResults(tx, submission.id)).map(({ result, warnings }) =>
    config.PUBLISH_WARNINGS && warnings !== null ? withWarnings(result, warnings) : result,
  );
  const context = callbackContext(actions.onPublish.name, requestContext, {
    now: at,
    requestDigest: submission.digest,
  });
  await finishSubmission(tx, submission.id, at);
  await queueCallback(tx, {
    role: 'catalog',
    action: actions.onPublish.name,
    messageId: submission.messageId,
    recipient: submission.publisher,
    destination: submission.callbackUrl,
    body: Buffer.from(`{"context":${JSON.stringify(context)},"message":{"results":[${results.join(',')}]}}`),
    requestSignature: submission.requestSignature,
    requestId: submission.requestId,
    giveUpAfterMs: config.RETRY_HOURS * 3_600_000,
    traceparent: submission.traceparent,
  });
}

/** Peers' schemas of on_publish are closed, so only publishers that get warnings get the member. */
function withWarnings(result: string, warnings: string): string {
  return JSON.stringify({ ...JSON.parse(result), warnings: JSON.parse(warnings) });
}

/** Undefined if another process, which had lost its lease, has finished it meanwhile. */
export async function readMessage(database: Database, submissionId: number) {
  const body = await readSubmissionBody(database, submissionId);
  if (!body) return undefined;
  return { message: JSON.parse(body.toString('utf8')).message as PublishMessage, bytes: body.length };
}
