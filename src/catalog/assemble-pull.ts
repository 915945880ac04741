import { type FormTools, projectionFor } from '../delivery/strict-renderer.ts';
import type { Context } from '../protocol/context.ts';
import { errorBody, ProtocolError } from '../protocol/errors.ts';
import type { Subscription } from '../protocol/subscription-messages.ts';
import { schemaIdentities } from '../rules/schema-address.ts';
import { writeDownload } from '../storage/catalog/downloads.ts';
import type { DuePull } from '../storage/catalog/pulls.ts';
import { readCatalogs } from '../storage/catalog/reader.ts';
import { findSubscription } from '../storage/catalog/subscriptions.ts';
import type { CatalogContext } from './context.ts';
import { downloadUrl } from './download.ts';

/** The message of an on_pull (catalog spec: POST /catalog/on_pull). */
export interface PullResult {
  /** JSON text. */
  message: string;
  /** The network of a subscription with exactly one network: some peers read it from here. */
  networkId?: string;
  expiresAt?: Date;
}

/** Reads a pull in one transaction. A small result is sent inline; a larger one is streamed into a download, never held in memory. */
export async function assemblePull(
  context: CatalogContext,
  pull: DuePull,
  signal: AbortSignal,
  tools: FormTools,
): Promise<PullResult> {
  const { config, database } = context;
  const project = await projectionFor(tools, pull.owner);
  const page = { limit: pull.page_limit, offset: pull.page_offset };
  return database.transaction(
    async (tx) => {
      const subscription = await findSubscription(tx, pull.subscription_id);
      if (!subscription) throw new Error(`subscription ${pull.subscription_id} is gone`);
      const { networkIds } = subscription;
      const schemaTypes = schemaIdentities(subscription.schemaTypes, config.SCHEMA_ALIASES);
      const found = await readCatalogs(tx, { networkIds, schemaTypes, ...page }, project);
      const pagination = { total: found.total, ...page };
      const catalogs = await collect(until(signal, found.pieces), config.PULL_INLINE_LIMIT);
      const network = networkOf(subscription);
      if (catalogs.whole) return { message: completed('catalogs', catalogs.text, pagination), ...network };

      const expiresAt = () => expiryOf(context);
      const download = await writeDownload(tx, pull.owner, asDocument(catalogs.pieces), expiresAt);
      const manifest = {
        url: downloadUrl(context, download),
        expiresAt: download.expiresAt.toISOString(),
        format: 'json.gz',
        sizeBytes: download.sizeBytes,
        checksum: download.checksum,
      };
      return {
        ...{ message: completed('downloadManifest', JSON.stringify(manifest), pagination), ...network },
        expiresAt: download.expiresAt,
      };
    },
    { isolation: 'repeatable read' },
  );
}

/** The caller reads the error and has no results to process. */
export async function failPull({ database }: CatalogContext, pull: DuePull): Promise<PullResult> {
  const { messageId }: Context = JSON.parse(pull.context);
  const error = new ProtocolError(
    'NET_CATALOG_SOURCE_UNAVAILABLE',
    'The catalogs cannot be read right now. Pull again later.',
  );
  // The subscription itself may be unreadable.
  const subscription = await findSubscription(database, pull.subscription_id).catch(() => undefined);
  return {
    message: JSON.stringify({ status: 'FAILED', messageId, error: errorBody(error) }),
    ...networkOf(subscription),
  };
}

function networkOf(subscription: Pick<Subscription, 'networkIds'> | undefined) {
  const [networkId, ...others] = subscription?.networkIds ?? [];
  return networkId !== undefined && others.length === 0 ? { networkId } : {};
}

function completed(member: 'catalogs' | 'downloadManifest', text: string, pagination: object): string {
  return `{"status":"COMPLETED","${member}":${text},"pagination":${JSON.stringify(pagination)}}`;
}

/** In whole seconds, like the address of the download. */
function expiryOf({ config, now }: CatalogContext): Date {
  return new Date((Math.ceil(now().getTime() / 1000) + config.DOWNLOAD_TTL_SECONDS) * 1000);
}

type Collected = { whole: true; text: string } | { whole: false; pieces: AsyncIterable<string> };

/** The whole text if it is within the limit; otherwise all its pieces, including those already read. */
async function collect(pieces: AsyncIterable<string>, maxBytes: number): Promise<Collected> {
  const rest = pieces[Symbol.asyncIterator]();
  const read: string[] = [];
  let bytes = 0;
  for (let next = await rest.next(); !next.done; next = await rest.next()) {
    read.push(next.value);
    bytes += Buffer.byteLength(next.value);
    if (bytes > maxBytes) return { whole: false, pieces: chain(read, rest) };
  }
  return { whole: true, text: read.join('') };
}

async function* chain(read: string[], rest: AsyncIterator<string>): AsyncGenerator<string> {
  for (const piece of read.splice(0)) yield piece;
  yield* { [Symbol.asyncIterator]: () => rest };
}

async function* asDocument(catalogs: AsyncIterable<string>): AsyncGenerator<string> {
  yield '{"catalogs":';
  yield* catalogs;
  yield '}';
}

async function* until(signal: AbortSignal, pieces: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const piece of pieces) {
    signal.throwIfAborted();
    yield piece;
  }
}
