import { setImmediate as immediate } from 'node:timers/promises';
import {
  AnswerDraft,
  type AnswerPage,
  type FoundResource,
  maxLimit,
  neededCount,
  type StoredDocument,
  type WideOffers,
} from '../rules/discover/page-answer.ts';
import type { Candidates, Search } from './candidates.ts';
import { headOf, keysBetween } from './documents/keys.ts';
import { type Confirmation, findPage, type ListedResource, readListed } from './documents/read-page.ts';
import type { Plan } from './plan.ts';

/**
 * Reads the page that a request asked for: the found resources in their catalogs, with the offers that apply to them. The page is outdated when a
 * resource on it has changed since it was found: then one that the filter selects instead may be missing.
 */
export async function buildPage(
  search: Search,
  candidates: Candidates,
): Promise<{ answer: AnswerPage; isOutdated: boolean }> {
  const { paging } = search.plan;
  const { limit = maxLimit, offset = 0 } = paging;
  const needed = neededCount(paging);
  const page = new Page(search);
  let total = 0;
  for await (const keys of gather(candidates.keys, candidates.isSettled ? needed : needed * spare)) {
    search.deadline.check();
    const { count } = await search.trace.time(
      'read page',
      async () => {
        const found = await findPage(search.database, {
          ...candidates,
          keys,
          isSettled: candidates.isSettled ?? false,
          atMost: needed - total,
          offset: Math.max(0, offset - total),
          limit: Math.max(0, offset + limit - Math.max(offset, total)),
        });
        await search.beforePage?.(found.keys.length);
        return { ...found, resources: await page.read(found.keys) };
      },
      ({ count, resources }) => ({ candidates: keys.length, passed: count, resources }),
    );
    if (!candidates.isSettled) search.count(keys.length, count);
    total += count;
    if (total >= needed) break;
  }
  return { answer: page.draft.finish(total, paging), isOutdated: page.isOutdated };
}

/** After a resource with more of them others get their turn. */
const manyOffers = 1_000;

/** The resources of an answer are read until it is full, so that no more large documents are in memory than it has room for. */
class Page {
  readonly draft = new AnswerDraft();
  isOutdated = false;
  private readonly documents = new Documents();
  private readonly search: Search;

  constructor(search: Search) {
    this.search = search;
  }

  /** Returns how many were read. */
  async read(keys: readonly number[]): Promise<number> {
    const { database, deadline, plan } = this.search;
    const { scope } = plan;
    let read = 0;
    for (let start = 0; start < keys.length && !this.draft.isFull; ) {
      deadline.check();
      const part = keysBetween(keys, start, start + this.draft.roomFor);
      const found = await readListed(database, part, { scope, confirm: confirmationOf(plan) });
      const { listed } = found;
      this.isOutdated ||= listed.length < found.read;
      for (const each of listed) {
        this.draft.add([this.documents.found(each)]);
        if (each.wide.offers.length > manyOffers) await immediate();
      }
      start += found.read;
      read += listed.length;
    }
    return read;
  }
}

/** Of candidates that are not checked yet, so many more are read that the first ones are enough as a rule. */
const spare = 1.1;

/** At least so many at a time, until all have come. */
async function* gather(
  parts: AsyncIterable<ArrayLike<number>>,
  least: number,
): AsyncGenerator<ArrayLike<number>> {
  let held: ArrayLike<number>[] = [];
  let count = 0;
  for await (const part of parts) {
    held.push(part);
    count += part.length;
    if (count < least) continue;
    yield concatenate(held, count);
    [held, count] = [[], 0];
  }
  if (count > 0) yield concatenate(held, count);
}

/** Mostly it is one part, which is not copied. */
function concatenate(parts: readonly ArrayLike<number>[], count: number): ArrayLike<number> {
  if (parts.length === 1 && parts[0]) return parts[0];
  const all = new Float64Array(count);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** What the index decided is confirmed on the documents. */
function confirmationOf({ filter, filterSource }: Plan): Confirmation | undefined {
  const check = filter?.checkBeside([]);
  const text = filterSource?.expression ?? '';
  return check && { filter: text, check, ...(filter?.cheap && filter.test && { test: filter.test }) };
}

/** The same catalog and the same offer are the same document, whichever part of the page they came with. */
class Documents {
  private readonly documents = new Map<number, StoredDocument>();
  private readonly wide = new Map<StoredDocument, WideOffers>();

  found({ key, catalog: head, resource, offers, more, wide }: ListedResource): FoundResource {
    const catalog = this.one(headOf(key), head);
    const ofCatalog = this.wide.get(catalog) ?? {
      offers: wide.offers.map(({ document }) => document),
      more: wide.more,
    };
    this.wide.set(catalog, ofCatalog);
    const named = offers.map((offer) => this.one(offer.key, offer.document));
    return { catalog, resource, offers: named, more, wide: ofCatalog };
  }

  private one(key: number, document: StoredDocument): StoredDocument {
    const first = this.documents.get(key) ?? document;
    this.documents.set(key, first);
    return first;
  }
}
