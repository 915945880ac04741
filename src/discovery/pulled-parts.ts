import type { Logger } from '../logger.ts';
import { ReceivedCatalog } from '../protocol/catalog.ts';
import { ProtocolError } from '../protocol/errors.ts';
import type { Json, JsonObject } from '../protocol/json.ts';
import { validator } from '../protocol/validate.ts';
import { splitCatalogs } from './split-catalogs.ts';

export type PulledPart = CatalogPart | { invalidId: string };

/** A catalog, or a part of one that does not fit into memory. Every part has all catalog-level members. */
export interface CatalogPart {
  catalog: ReceivedCatalog;
  first: boolean;
  last: boolean;
}

const maxPartDocuments = 1_000;
const maxPartBytes = 8 * 1024 * 1024;

export async function* inlineParts(catalogs: readonly ReceivedCatalog[]): AsyncGenerator<PulledPart> {
  for (const catalog of catalogs) yield { catalog, first: true, last: true };
}

/** The catalogs of a download; `heads` has their members, read before. An invalid catalog is logged, and skipped from its first invalid part on. */
export async function* downloadedParts(
  document: AsyncIterable<Uint8Array>,
  heads: readonly JsonObject[],
  logger: Logger,
): AsyncGenerator<PulledPart> {
  const open = { index: -1, first: true, refused: false };
  let resources: Json[] = [];
  let offers: Json[] = [];
  let bytes = 0;

  function takePart(last: boolean): PulledPart[] {
    const head = heads[open.index];
    const { first, refused } = open;
    const part = { ...head, resources, offers };
    [resources, offers, bytes, open.first] = [[], [], 0, false];
    if (refused) return [];
    try {
      return [{ catalog: asCatalog(part), first, last }];
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      open.refused = true;
      logger.warn({ catalogId: head?.id, reason: error.message }, 'a pulled catalog is not valid');
      return typeof head?.id === 'string' ? [{ invalidId: head.id }] : [];
    }
  }

  for await (const part of splitCatalogs(document, { path: ['catalogs'], items: true })) {
    if (part.kind === 'catalog') Object.assign(open, { index: open.index + 1, first: true, refused: false });
    if (part.kind === 'end') yield* takePart(true);
    if (part.kind !== 'resources' && part.kind !== 'offers') continue;
    if (resources.length + offers.length >= maxPartDocuments || bytes >= maxPartBytes) yield* takePart(false);
    (part.kind === 'resources' ? resources : offers).push(part.value);
    bytes += part.bytes;
  }
}

const asCatalog = validator(ReceivedCatalog);
