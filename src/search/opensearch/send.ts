import type { Queryable } from '../../storage/database.ts';
import { readSubjects } from '../confirm/read-subjects.ts';
import { readRanged } from '../documents/read-ranged.ts';
import type { IndexFormat } from '../entries/index-format.ts';
import { type KeyRange, kindOf } from '../keys.ts';
import type { OpenSearch } from './client.ts';
import { createDocuments, type IndexDocument } from './document.ts';
import { writeBulk } from './indexes.ts';
import { createWordWriter } from './word-index.ts';

// Compares a range of keys with an index, and sends the differences.

/** Number of documents that are read, compared and sent together. */
const documentsAtOnce = 1_000;

export function createSender(client: OpenSearch, format: IndexFormat, now: () => Date) {
  const addWords = createWordWriter(client, format);

  async function send(index: string, differences: readonly DocumentDifference[], version: number) {
    const items = differences.map(({ key, document }) => {
      const meta = `{"_id":"${key}","version":${version},"version_type":"external_gte"}`;
      return document ? `{"index":${meta}}\n${document.text}` : `{"delete":${meta}}`;
    });
    // Words first: if this fails, the documents still differ next time.
    const words = differences.flatMap(({ document }) => document?.words ?? []);
    await addWords(index, words);
    await writeBulk(client, index, items);
  }

  return {
    /** Compares the first part of a range with an index, and sends the differences if there is a version for them. `next`: start of the rest. */
    async compare(queryable: Queryable, index: string, range: KeyRange, version?: number) {
      const { documents, ranges, rest } = await readPart(queryable, format, now(), [range]);
      const differences = findDifferences(documents, await readDigests(client, index, ranges));
      if (version !== undefined) await send(index, differences, version);
      return { documents: documents.size, next: rest[0]?.from, differences };
    },

    /** Sends the differences in some ranges until the time is over. Returns the rest. `isEmpty`: the index has nothing there yet. */
    async sendAll(
      queryable: Queryable,
      indexes: readonly string[],
      ranges: readonly KeyRange[],
      { version, forMs = Number.POSITIVE_INFINITY }: { version: number; forMs?: number },
    ): Promise<readonly KeyRange[]> {
      const end = performance.now() + forMs;
      const sendPart = async ({ documents, ranges }: Part) => {
        for (const index of indexes)
          await send(index, findDifferences(documents, await readDigests(client, index, ranges)), version);
      };
      let [left, sending] = [ranges, Promise.resolve()];
      try {
        do {
          // While OpenSearch writes a part, the next one is prepared.
          const part = await readPart(queryable, format, now(), left);
          await sending;
          sending = sendPart(part);
          sending.catch(() => undefined); // thrown when awaited, a part later
          left = part.rest;
        } while (left.length > 0 && performance.now() < end);
        await sending;
      } finally {
        // The next round may have the same version, if this one fails.
        await sending.catch(() => undefined);
      }
      return left;
    },
  };
}

/** The documents that an index should have for the first part of some key ranges. */
interface Part {
  ranges: KeyRange[];
  documents: Map<number, IndexDocument>;
  rest: KeyRange[];
}

async function readPart(queryable: Queryable, format: IndexFormat, now: Date, ranges: readonly KeyRange[]) {
  const rows = await readRanged(queryable, ranges, documentsAtOnce);
  const next = rows.length < documentsAtOnce ? Number.POSITIVE_INFINITY : (rows.at(-1)?.key ?? 0) + 1;
  const resources = rows.filter(({ key }) => kindOf(key) === 'resource').map(({ key }) => key);
  const found = await readSubjects(queryable, resources, { now });
  const subjects = new Map(found.map((each) => [each.key, each]));
  const make = createDocuments(format, now);
  return {
    ranges: cut(ranges, 0, next),
    documents: new Map(rows.map(({ key, text }) => [key, make(key, text, subjects.get(key))])),
    rest: cut(ranges, next, Number.POSITIVE_INFINITY),
  };
}

function cut(ranges: readonly KeyRange[], least: number, most: number): KeyRange[] {
  return ranges
    .map(({ from, end }) => ({ from: Math.max(from, least), end: Math.min(end, most) }))
    .filter(({ from, end }) => from < end);
}

interface DocumentDifference {
  key: number;
  kind: 'missing' | 'surplus';
  document?: IndexDocument;
}

function findDifferences(documents: Part['documents'], held: ReadonlyMap<number, number>) {
  const differences: DocumentDifference[] = [];
  for (const [key, document] of documents)
    if (held.get(key) !== document.digest) differences.push({ key, kind: 'missing', document });
  for (const key of held.keys()) if (!documents.has(key)) differences.push({ key, kind: 'surplus' });
  return differences;
}

const digestsAtOnce = 10_000;

async function readDigests(client: OpenSearch, index: string, ranges: readonly KeyRange[]) {
  const digests = new Map<number, number>();
  const inRanges = ranges.map(({ from, end }) => ({ range: { key: { gte: from, lt: end } } }));
  const body = {
    ...{ size: digestsAtOnce, sort: [{ key: 'asc' }], track_total_hits: false, _source: false },
    ...{ query: { bool: { filter: { bool: { should: inRanges } } } }, docvalue_fields: ['digest'] },
  };
  const path = `/${index}/_search?allow_partial_search_results=false`;
  for (let after: number | undefined; ; ) {
    const search = { ...body, ...(after !== undefined && { search_after: [after] }) };
    const { hits } = (await client.ask<DigestAnswer>(path, { body: search })).hits;
    for (const { sort, fields } of hits) digests.set(sort[0], fields.digest[0]);
    if (hits.length < digestsAtOnce) return digests;
    after = hits.at(-1)?.sort[0];
  }
}

type DigestAnswer = { hits: { hits: { sort: [number]; fields: { digest: [number] } }[] } };
