import { isIdPart } from '../protocol/identity.ts';
import {
  findLookedUp,
  type ParticipantRecord,
  parseQueryAnswer,
  type QueryPage,
} from '../protocol/registry-record.ts';
import type { Ask } from './ask.ts';

/** One query of a DeDi registry: all pages, and one lookup per summarized record. Both are bounded, and omissions are described in words. */
export async function askForRecords(
  ask: Ask,
  { query, lookup }: { query: string; lookup: RecordPath },
  limits: ListLimits,
): Promise<{ records: ParticipantRecord[]; leftOut: string[] }> {
  const { page, leftOut } = await askForPages(ask, query, limits);
  const records = new Map(page.records.map((record) => [keyOf(record), record]));
  const { found, missing } = await lookUp(ask, lookup, page.summaries.slice(0, limits.maxLookups));
  for (const record of found) records.set(keyOf(record), record);
  const tooMany = page.summaries.length - limits.maxLookups;
  if (tooMany > 0) leftOut.push(`${tooMany} of which it has only summaries, beyond the limit of lookups`);
  if (missing > 0) leftOut.push(`${missing} of which it has only summaries, and which it does not look up`);
  if (page.unreadable > 0) leftOut.push(`${page.unreadable} that cannot be read`);
  return { records: [...records.values()], leftOut };
}

export interface ListLimits {
  maxPages: number;
  /** No further page is requested after this many rows. */
  maxRecords: number;
  maxLookups: number;
}

type RecordPath = (name: string) => string;

export const maxLookupBytes = 256 * 1024;
const maxQueryBytes = 8 * 1024 * 1024;
const lookupsAtOnce = 8;

async function askForPages(
  ask: Ask,
  path: string,
  { maxPages, maxRecords }: ListLimits,
): Promise<{ page: QueryPage; leftOut: string[] }> {
  const all: QueryPage = { records: [], summaries: [], unreadable: 0, pages: 1 };
  const known = new Set<string>();
  for (let number = 1; number <= all.pages; number += 1) {
    if (known.size >= maxRecords) return { page: all, leftOut: [`those from page ${number} on`] };
    if (number > maxPages) return { page: all, leftOut: [`those on ${all.pages - maxPages} further pages`] };
    const page = await ask(number === 1 ? path : `${path}?page=${number}`, maxQueryBytes, parseQueryAnswer);
    if (!page) break;
    const before = known.size;
    for (const record of page.records) known.add(keyOf(record));
    for (const names of page.summaries) known.add(names.join(' '));
    const listed = page.records.length + page.summaries.length;
    // A page without new records is the end, even if a registry always shows the first page.
    if (listed > 0 && known.size === before)
      return { page: all, leftOut: [`those from page ${number} on, which repeats others`] };
    if (listed + page.unreadable === 0) break;
    // Not `push(...page.records)`: a page may have more records than a call may have arguments.
    for (const record of page.records) all.records.push(record);
    for (const names of page.summaries) all.summaries.push(names);
    all.unreadable += page.unreadable;
    all.pages = page.pages;
  }
  return { page: all, leftOut: [] };
}

/** An answer without a record omits that record; a registry that cannot be asked ends the whole query. */
async function lookUp(ask: Ask, path: RecordPath, summaries: readonly string[][]) {
  const found: ParticipantRecord[] = [];
  for (let start = 0; start < summaries.length; start += lookupsAtOnce) {
    const batch = summaries.slice(start, start + lookupsAtOnce);
    const records = await Promise.all(batch.map((names) => lookUpByNames(ask, path, names)));
    found.push(...records.filter((record) => record !== undefined));
  }
  return { found, missing: summaries.length - found.length };
}

async function lookUpByNames(ask: Ask, path: RecordPath, names: readonly string[]) {
  for (const name of names.filter(isIdPart)) {
    const record = await ask(path(name), maxLookupBytes, (answer) => findLookedUp(answer) ?? null);
    if (record) return record;
  }
  return undefined;
}

function keyOf({ subscriberId, recordId }: ParticipantRecord): string {
  return `${subscriberId}|${recordId}`;
}
