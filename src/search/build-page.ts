import { setImmediate as immediate } from 'node:timers/promises';
import { AnswerDraft, type AnswerPage, maxLimit, neededCount } from '../rules/discover/page-answer.ts';
import { type Candidates, gather, type Search } from './candidates.ts';
import { inBatches, keysBetween } from './documents/keys.ts';
import { readListed, SharedDocuments } from './documents/read-page.ts';
import { readPassing } from './filter/check-documents.ts';

/**
 * Reads the page that a request asked for: the found resources in their catalogs, with the offers that apply to them. The resources beyond it are counted at the same time. The page is
 * outdated when a resource on it has changed since it was found: then one that the filter selects instead may be missing.
 */
export async function buildPage(search: Search, candidates: Candidates): Promise<BuiltPage> {
  const { paging } = search.plan;
  const { limit = maxLimit, offset = 0 } = paging;
  const page = new Page(search);
  const count = { candidates: 0, passed: 0 };
  await search.trace.time(
    'read page',
    async () => {
      let reading = Promise.resolve();
      for await (const part of streamPassing(search, candidates)) {
        const from = Math.max(0, offset - count.passed);
        const end = Math.max(0, offset + limit - count.passed);
        const shown = Array.from(keysBetween(part.passed, from, end));
        if (shown.length > 0) reading = reading.then(() => page.read(shown));
        // Its error is thrown below, unless another one comes first.
        reading.catch(() => {});
        count.candidates += part.candidates;
        count.passed += part.passed.length;
      }
      await reading;
    },
    () => ({ ...count, resources: page.resources }),
  );
  if (!candidates.isSettled) search.count(count.candidates, count.passed);
  return { answer: page.draft.finish(count.passed, paging), isOutdated: page.isOutdated };
}

interface PassedPart {
  candidates: number;
  passed: ArrayLike<number>;
}

/** The candidates that pass the check, in their order, until enough are counted. The first ones come as soon as a page can be read. */
export async function* streamPassing(
  search: Search,
  { keys, check }: Candidates,
): AsyncGenerator<PassedPart> {
  const { database, deadline, plan } = search;
  const { limit = maxLimit, offset = 0 } = plan.paging;
  let missing = neededCount(plan.paging);
  const pageEnd = offset + limit;
  for await (const part of gather(keys, pageEnd, check ? missing * spare : pageEnd)) {
    for (const some of check ? sliceForCheck(part, pageEnd * spareForPage) : [part]) {
      deadline.check();
      const passed = await readPassing(database, { keys: some, check }, missing);
      yield { candidates: some.length, passed };
      missing -= passed.length;
      if (missing <= 0) return;
    }
  }
}

/** Enough for the page by themselves; then the others, if they are many. */
function sliceForCheck(keys: ArrayLike<number>, first: number): ArrayLike<number>[] {
  if (keys.length < first + manyToCheck) return [keys];
  return [keysBetween(keys, 0, first), keysBetween(keys, first, keys.length)];
}

/** A statement for fewer is not worth its round trip. */
const manyToCheck = 200;
/** Of candidates that are not checked yet, so many more are read that the first ones are enough as a rule: for the page, and to be counted. */
const spareForPage = 2;
const spare = 1.1;

export interface BuiltPage {
  answer: AnswerPage;
  isOutdated: boolean;
}

/** Resources that one statement reads. */
const documentsAtOnce = 300;
/** After a resource with more of them others get their turn. */
const manyOffers = 1_000;

/** The resources of an answer are read until it is full, so that no more large documents are in memory than it has room for. */
class Page {
  readonly draft = new AnswerDraft();
  isOutdated = false;
  /** How many were read. */
  resources = 0;
  private readonly documents = new SharedDocuments();
  private readonly search: Search;

  constructor(search: Search) {
    this.search = search;
  }

  async read(keys: readonly number[]): Promise<void> {
    const { database, deadline, plan, beforePage } = this.search;
    const { scope } = plan;
    await beforePage?.(this.resources + keys.length);
    for (let start = 0; start < keys.length && !this.draft.isFull; ) {
      deadline.check();
      const part = keysBetween(keys, start, start + this.draft.roomFor);
      const query = { scope, check: plan.filter?.checkBeside([]) };
      // While the database reads some, the process takes in others.
      const batches = [...inBatches(part, documentsAtOnce)];
      const listed = await Promise.all(
        batches.map((batch) => readListed(database, batch, query, this.documents)),
      );
      for (const [index, { found, read: tried }] of listed.entries()) {
        this.isOutdated ||= found.length < tried;
        for (const each of found) {
          this.draft.add([each]);
          if ((each.wide?.offers.length ?? 0) > manyOffers) await immediate();
        }
        start += tried;
        this.resources += found.length;
        // Those that follow are read again.
        if (tried < (batches[index]?.length ?? 0)) break;
      }
    }
  }
}
