import type { Pagination } from '../../protocol/shapes.ts';

// An answer of discover from the resources that were found (catalog spec: POST /on_discover). Decided: `limit` and `offset` count
// resources; they go back into their catalogs, in the order in which they were found; an answer has at most 8 MiB. It
// carries a pagination only where the request paged or something is missing. Documents are put together as the texts
// that they are stored as.

export const defaultLimit = 100;
export const maxAnswerBytes = 8 * 1024 * 1024;
/** `pagination.total` is exact up to here; above, it is how many were counted. */
export const exactTotal = 1_000;

export interface Paging {
  limit?: number;
  offset?: number;
}

/** A found resource with what is listed beside it. The same catalog and the same offer are the same object. */
export interface FoundResource {
  catalog: StoredDocument;
  resource: StoredDocument;
  /** Those that apply to this resource. */
  offers: readonly StoredDocument[];
}

export interface StoredDocument {
  /** A JSON object; that of a catalog has neither resources nor offers. */
  text: string;
}

export interface AnswerPage {
  /** The array `catalogs`; empty where the page is beyond the last resource. */
  catalogs: string;
  resourceCount: number;
  pagination?: Pagination;
}

/** How many resources must be found before counting may end. */
export function neededCount({ limit = defaultLimit, offset = 0 }: Paging): number {
  return Math.max(exactTotal, offset + limit) + 1;
}

/**
 * `found` are the resources from the offset on, at most `limit` of them; `total` is how many were counted, those before
 * the offset included.
 */
export function pageAnswer(
  found: readonly FoundResource[],
  total: number,
  { limit, offset }: Paging,
  maxBytes = maxAnswerBytes,
): AnswerPage {
  const answer = new Answer(maxBytes);
  const isWhole = found.every((each) => answer.add(each));
  const { resourceCount } = answer;
  const counted = Math.max(total, (offset ?? 0) + resourceCount);
  const hasMore = counted > (offset ?? 0) + resourceCount || answer.lacksOffers;
  return {
    catalogs: answer.text(),
    resourceCount,
    ...((limit !== undefined || offset !== undefined || hasMore) && {
      pagination: {
        total: counted,
        // Who asks for the next page by offset + limit misses nothing.
        limit: isWhole ? (limit ?? defaultLimit) : resourceCount,
        offset: offset ?? 0,
      },
    }),
  };
}

class Answer {
  resourceCount = 0;
  lacksOffers = false;
  private bytes = '[]'.length;
  private readonly maxBytes: number;
  private readonly catalogs = new Map<StoredDocument, Listed>();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** False where it has no room any more. The first resource always has: an answer is never empty. */
  add({ catalog, resource, offers }: FoundResource): boolean {
    const listed = this.catalogs.get(catalog) ?? { resources: [], offers: new Set() };
    const newOffers = offers.filter((offer) => !listed.offers.has(offer));
    const room = this.maxBytes - this.bytes;
    const opening = this.catalogs.has(catalog) ? 0 : sizeOf(catalog.text) + frameBytes;
    const needed = opening + listSize([resource]) + listSize(newOffers);
    if (needed > room && this.resourceCount > 0) return false;
    const listable =
      needed <= room ? newOffers : this.fitting(newOffers, room - opening - listSize([resource]));
    listed.resources.push(resource);
    for (const offer of listable) listed.offers.add(offer);
    this.catalogs.set(catalog, listed);
    this.bytes += opening + listSize([resource]) + listSize(listable);
    this.resourceCount++;
    return listable.length === newOffers.length;
  }

  /** Where all offers of one resource do not fit, some do. */
  private fitting(offers: readonly StoredDocument[], room: number): StoredDocument[] {
    this.lacksOffers = true;
    let left = room;
    return offers.filter((offer) => {
      left -= listSize([offer]);
      return left >= 0;
    });
  }

  text(): string {
    const catalogs = [...this.catalogs].map(([{ text }, { resources, offers }]) => {
      const lists = [listText('resources', resources), listText('offers', [...offers])];
      return `${text.slice(0, text.lastIndexOf('}'))}${lists.join('')}}`;
    });
    return `[${catalogs.join()}]`;
  }
}

interface Listed {
  resources: StoredDocument[];
  offers: Set<StoredDocument>;
}

const frameBytes = ',"resources":[],"offers":[],'.length;

function listText(name: string, documents: readonly StoredDocument[]): string {
  return documents.length === 0 ? '' : `,"${name}":[${documents.map(({ text }) => text).join()}]`;
}

/** With a comma after each. */
function listSize(documents: readonly StoredDocument[]): number {
  return documents.reduce((sum, { text }) => sum + sizeOf(text) + 1, 0);
}

function sizeOf(text: string): number {
  return Buffer.byteLength(text);
}
