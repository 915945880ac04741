import type { RankedResource } from '../../protocol/discover-messages.ts';
import type { Pagination } from '../../protocol/shapes.ts';

// Builds an answer of discover from the found resources (catalog spec: POST /on_discover). Decided: `limit` and `offset` count resources, which are grouped into their catalogs in the order in
// which they were found. Without a limit an answer has up to 1,000 resources, and any answer ends, between two resources, before its message has 8 MiB. It has a pagination only if the request
// paged: peers with closed schemas refuse a whole answer for one unexpected member.

export const maxLimit = 1_000;
/** An on_discover has at most 8 MiB; the rest is for its context. */
const maxCallbackBytes = 8 * 1024 * 1024;
const contextBytes = 64 * 1024;
export const maxAnswerBytes = maxCallbackBytes - contextBytes;
/** `pagination.total` is exact up to this number; above, it is the number counted so far. */
export const exactTotal = 1_000;
/** The near miss of a page beyond the last one. */
export function beyondTheLast(total: number) {
  const says = `The offset is beyond the last of ${total} matches.`;
  return { code: 'offset-beyond-last' as const, says, path: '$.message.offset' };
}
/** Documents that are read before their size is known. */
const firstRead = 100;

export interface Paging {
  limit?: number;
  offset?: number;
}

/** A found resource with its catalog and offers. The same catalog and the same offer are the same object. */
export interface FoundResource {
  ranked: RankedResource;
  catalog: StoredDocument;
  resource: StoredDocument;
  offers: readonly StoredDocument[];
  /** The number of further offers, which would not fit. */
  more?: number;
  /** Offers on all resources of the catalog, listed with the first of them. */
  wide?: WideOffers;
}

interface WideOffers {
  offers: readonly StoredDocument[];
  more: number;
}

export interface StoredDocument {
  /** A JSON object; that of a catalog has neither resources nor offers. */
  text: string;
  /** If it holds several objects, separated by commas: how many. */
  count?: number;
}

export interface AnswerPage {
  /** The array `catalogs`; empty if the page is beyond the last resource. */
  catalogs: string;
  resourceCount: number;
  total: number;
  pagination?: Pagination;
  ranking: RankedResource[];
  leftOut?: LeftOut;
}

export interface LeftOut {
  resources: number;
  /** There may be more: resources above `exactTotal` are not counted. */
  orMore: boolean;
  /** Number of offers of a first resource whose offers alone would fill the answer. */
  offers: number;
}

export function neededCount({ limit = maxLimit, offset = 0 }: Paging): number {
  return Math.max(exactTotal, offset + limit) + 1;
}

export class AnswerDraft {
  isFull = false;
  private resourceCount = 0;
  private missingOffers = 0;
  private readonly ranking: RankedResource[] = [];
  private bytes = '[]'.length;
  private readonly maxBytes: number;
  private readonly catalogs = new Map<StoredDocument, Listed>();

  constructor(maxBytes = maxAnswerBytes) {
    this.maxBytes = maxBytes;
  }

  /** About as many resources as fit: more documents need not be read. */
  get roomFor(): number {
    if (this.resourceCount === 0) return firstRead;
    return Math.max(1, Math.ceil(((this.maxBytes - this.bytes) / this.bytes) * this.resourceCount));
  }

  add(found: Iterable<FoundResource>): void {
    for (const each of found) this.isFull ||= !this.addOne(each);
  }

  /** `total` is the number counted, including those before the offset. */
  finish(total: number, { limit, offset }: Paging): AnswerPage {
    const { resourceCount, missingOffers } = this;
    const start = offset ?? 0;
    // A page beyond the last resource lists nothing.
    const counted = resourceCount === 0 ? total : Math.max(total, start + resourceCount);
    const missing = Math.max(0, counted - start - resourceCount);
    const isPaged = limit !== undefined || offset !== undefined;
    return {
      catalogs: this.text(),
      resourceCount,
      ranking: this.ranking,
      total: counted,
      ...(isPaged && {
        // A client that requests the next page by offset + limit misses nothing.
        pagination: {
          total: counted,
          limit: this.isFull ? resourceCount : (limit ?? maxLimit),
          offset: start,
        },
      }),
      ...((missing > 0 || missingOffers > 0) && {
        leftOut: { resources: missing, orMore: counted > exactTotal, offers: missingOffers },
      }),
    };
  }

  /** False if there is no room left. There is always room for the first resource: an answer is never empty. */
  private addOne({
    ranked,
    catalog,
    resource,
    offers,
    wide = noOffers,
    more: unread = 0,
  }: FoundResource): boolean {
    const isNew = !this.catalogs.has(catalog);
    const listed = this.catalogs.get(catalog) ?? { resources: [], offers: new Set() };
    const named = offers.filter((offer) => !listed.offers.has(offer));
    const newOffers = isNew ? [...named, ...wide.offers] : named;
    const more = unread + (isNew ? wide.more : 0);
    const opening = isNew ? sizeOf(catalog.text) + frameBytes : 0;
    const without = opening + listSize([resource]);
    const room = this.maxBytes - this.bytes - without;
    const needed = listSize(newOffers);
    const isFitting = needed <= room;
    if ((!isFitting || more > 0) && this.resourceCount > 0) return false;
    const listable = isFitting ? newOffers : findFitting(newOffers, room);
    listed.resources.push(resource);
    for (const offer of listable) listed.offers.add(offer);
    this.catalogs.set(catalog, listed);
    this.bytes += without + (isFitting ? needed : listSize(listable));
    this.resourceCount++;
    this.ranking.push(ranked);
    this.missingOffers += more + (isFitting ? 0 : countOf(newOffers) - countOf(listable));
    return listable.length === newOffers.length && more === 0;
  }

  private text(): string {
    const catalogs = [...this.catalogs].map(([{ text }, { resources, offers }]) => {
      const lists = [listText('resources', resources), listText('offers', [...offers])];
      return `${text.slice(0, text.lastIndexOf('}'))}${lists.join('')}}`;
    });
    return `[${catalogs.join()}]`;
  }
}

function findFitting(offers: readonly StoredDocument[], room: number): StoredDocument[] {
  let left = room;
  return offers.filter((offer) => {
    left -= listSize([offer]);
    return left >= 0;
  });
}

interface Listed {
  resources: StoredDocument[];
  offers: Set<StoredDocument>;
}

const noOffers: WideOffers = { offers: [], more: 0 };
const frameBytes = ',"resources":[],"offers":[],'.length;

function listText(name: string, documents: readonly StoredDocument[]): string {
  return documents.length === 0 ? '' : `,"${name}":[${documents.map(({ text }) => text).join()}]`;
}

function countOf(documents: readonly StoredDocument[]): number {
  return documents.reduce((sum, { count = 1 }) => sum + count, 0);
}

/** With a comma after each. */
function listSize(documents: readonly StoredDocument[]): number {
  return documents.reduce((sum, { text }) => sum + sizeOf(text) + 1, 0);
}

function sizeOf(text: string): number {
  return Buffer.byteLength(text);
}
