import type { FastifyInstance } from 'fastify';
import { rememberAnswer } from '../delivery/remember-answer.ts';
import type { FormTools } from '../delivery/strict-renderer.ts';
import { callbackAddress } from '../http/callback-address.ts';
import { type SignedService, signedRoute, type VerifiedRequest } from '../http/signed-route.ts';
import { ack } from '../protocol/acknowledgement.ts';
import { actions } from '../protocol/actions.ts';
import { type Context, callbackContext } from '../protocol/context.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { pageOf } from '../protocol/page.ts';
import { sumDownloads } from '../storage/catalog/downloads.ts';
import { countPulls, type DuePull, finishPull, insertPull, pullTable } from '../storage/catalog/pulls.ts';
import { findSubscription } from '../storage/catalog/subscriptions.ts';
import type { Transaction } from '../storage/database.ts';
import { queueCallback } from '../storage/work/callbacks.ts';
import { type Claim, startWorkLoop, type WorkLoop } from '../storage/work/due-work.ts';
import { assemblePull, failPull, type PullResult } from './assemble-pull.ts';
import type { CatalogContext } from './context.ts';
import { ownSubscription } from './subscription.ts';

// Pull (catalog spec: POST /catalog/pull, POST /catalog/on_pull), in two phases:
//
//   accept   refuse invalid requests at once; store and acknowledge the pull
//   answer   assemble it from one snapshot (assemble-pull.ts); queue on_pull in the transaction that finishes the pull

/** Each uses a separate transaction and a separate compression thread. */
const pullsAtOnce = 2;
/** Pulls of one owner at a time, so that others get the other places. */
const pullsOfOwner = 1;
/** Waiting pulls of one owner: a discovery service has one for each of its networks. */
export const maxOpenPulls = 100;
/** Unexpired downloads of one owner, so that no owner fills the disk. */
export const maxDownloadBytes = 10 * 2 ** 30;
const retryAfterSeconds = 5;
const retryAfterExpirySeconds = 60;
/** Attempts after which the catalogs count as unreadable. A process that died while assembling counts as an attempt. */
const maxAttempts = 4;

export function addPullRoute(server: FastifyInstance, service: SignedService, context: CatalogContext): void {
  signedRoute(server, service, actions.pull, (request) => accept(context, request));
}

async function accept({ config, database }: CatalogContext, request: VerifiedRequest<typeof actions.pull>) {
  const { identity: owner, context, message, digest } = request;
  const callbackUrl = callbackAddress(request, actions.onPull, config);
  const answer = { status: 200, body: JSON.stringify(ack(context.messageId)) };
  await database.transaction(async (tx) => {
    const found = await findSubscription(tx, message.subscriptionId);
    const { subscriptionId, status } = ownSubscription(found, owner, idInMessage);
    if (status !== 'ACTIVE')
      throw new ProtocolError('CTX_INVALID_FIELD', 'The subscription is INACTIVE.', { path: idInMessage });
    await checkShare(tx, owner);
    await insertPull(tx, {
      owner,
      subscriptionId,
      ...pageOf(message),
      context: JSON.stringify(context),
      digest,
      requestSignature: request.signature,
      requestId: await rememberAnswer(tx, request, answer, { open: true }),
      callbackUrl,
    });
  });
  return answer;
}

const idInMessage = '$.message.subscriptionId';

/** Limits the waiting pulls of an owner and its stored downloads, so that one owner cannot fill the disk. */
async function checkShare(tx: Transaction, owner: string): Promise<void> {
  if ((await countPulls(tx, owner)) >= maxOpenPulls)
    throw tooMany(`${maxOpenPulls} pulls of ${owner} are waiting for an answer`, retryAfterSeconds);
  if ((await sumDownloads(tx, owner)) >= maxDownloadBytes)
    throw tooMany(`The downloads of ${owner} fill its share until they expire`, retryAfterExpirySeconds);
}

function tooMany(says: string, retryAfterSeconds: number): ProtocolError {
  return new ProtocolError('NET_OVERLOADED', `${says}. Try again later.`, { retryAfterSeconds });
}

export function startPullLoop(context: CatalogContext, tools: FormTools): WorkLoop {
  const { database, logger } = context;
  return startWorkLoop<DuePull>({
    database,
    table: pullTable,
    concurrency: pullsAtOnce,
    perGroup: { column: 'owner', limit: pullsOfOwner },
    logger,
    handle: (claim, signal) => answerPull(context, claim, signal, tools),
  });
}

async function answerPull(
  context: CatalogContext,
  claim: Claim<DuePull>,
  signal: AbortSignal,
  tools: FormTools,
): Promise<void> {
  const { config, database, now } = context;
  const { message, networkId, expiresAt } = await assembleOrFail(context, claim, signal, tools);
  const { row } = claim;
  const request: Context = { ...JSON.parse(row.context), ...(networkId !== undefined && { networkId }) };
  const answered = callbackContext(actions.onPull.name, request, { now: now(), requestDigest: row.digest });
  await database.transaction(async (tx) => {
    await finishPull(tx, claim);
    await queueCallback(tx, {
      role: 'catalog',
      action: actions.onPull.name,
      messageId: request.messageId,
      recipient: row.owner,
      destination: row.callback_url,
      body: Buffer.from(`{"context":${JSON.stringify(answered)},"message":${message}}`),
      requestSignature: row.request_signature,
      requestId: row.request_id ?? undefined,
      // An expired download is not announced.
      giveUpAfterMs: expiresAt ? expiresAt.getTime() - now().getTime() : config.RETRY_HOURS * 3_600_000,
    });
  });
}

async function assembleOrFail(
  context: CatalogContext,
  { row, attempts }: Claim<DuePull>,
  signal: AbortSignal,
  tools: FormTools,
): Promise<PullResult> {
  if (attempts > maxAttempts) return failPull(context, row);
  try {
    return await assemblePull(context, row, signal, tools);
  } catch (error) {
    // The error causes another attempt after a pause.
    if (signal.aborted || attempts < maxAttempts) throw error;
    const about = { err: error, owner: row.owner, attempts };
    context.logger.error(about, 'a pull cannot be assembled; it is answered FAILED');
    return failPull(context, row);
  }
}
