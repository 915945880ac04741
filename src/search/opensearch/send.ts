import type { Logger } from '../../logger.ts';
import type { Queryable } from '../../storage/database.ts';
import { readStored } from '../confirm/read-subjects.ts';
import type { IndexFormat } from '../entries/index-format.ts';
import type { KeyRange } from '../keys.ts';
import { inBatches } from '../set/sorted.ts';
import type { OpenSearch } from './client.ts';
import { createDocuments, digestOf, type IndexDocument } from './document.ts';
import { writeBulk } from './indexes.ts';
import { createWordWriter } from './word-index.ts';

// Compares a range of keys with an index by digests, and sends the documents that differ.

/** Number of documents that are compared together. Those that differ are read together, and fewer are made at once, because they may be long. */
const [comparedAtOnce, madeAtOnce] = [2_000, 500];

export function createSender(client: OpenSearch, format: IndexFormat, { now, logger }: SenderContext) {
  const addWords = createWordWriter(client, format);

  async function send(index: string, { differences }: Part, version: number) {
    for (const some of inBatches(differences, madeAtOnce)) {
      const made = some.map(({ key, make }) => ({ key, ...make?.() }));
      const items = made.map(({ key, text }) => {
        const meta = `{"_id":"${key}","version":${version},"version_type":"external_gte"}`;
        return text === undefined ? `{"delete":${meta}}` : `{"index":${meta}}\n${text}`;
      });
      // Words first: if this fails, the documents still differ next time.
      const words = made.flatMap((each) => each.words ?? []);
      await addWords(index, words);
      const refused = await writeBulk(client, index, items);
      if (refused.length > 0)
        logger?.error({ index, refused }, 'searches do not find documents that OpenSearch refused');
    }
  }

  /** Compares the first part of some key ranges by digests, and reads the documents that differ. */
  async function comparePart(queryable: Queryable, index: string, all: readonly KeyRange[]): Promise<Part> {
    const time = now();
    const read = (ranges: readonly KeyRange[], limit: number, withDocuments: boolean) =>
      readStored(queryable, ranges, limit, { now: time, withDocuments });
    const stored = await read(all, comparedAtOnce, false);
    const expected = new Map(stored.map((each) => [each.key, digestOf(each, format, time)]));
    const next = stored.length < comparedAtOnce ? Number.POSITIVE_INFINITY : (stored.at(-1)?.key ?? 0) + 1;
    const held = await readDigests(client, index, cut(all, 0, next));
    const missing = [...expected.keys()].filter((key) => held.get(key) !== expected.get(key));
    const make = createDocuments(format, time);
    const ranges = missing.map((key) => ({ from: key, end: key + 1 }));
    const changed = await read(ranges, missing.length, true);
    const makers = new Map(changed.map((each) => [each.key, () => make(each)]));
    const surplus = [...held.keys()].filter((key) => !expected.has(key));
    const differences = [...missing, ...surplus].map((key) => ({ key, make: makers.get(key) }));
    return { documents: expected.size, differences, rest: cut(all, next, Number.POSITIVE_INFINITY) };
  }

  return {
    /** Compares the first part of a range with an index, and sends the differences if there is a version for them. `next`: start of the rest. */
    async compare(queryable: Queryable, index: string, range: KeyRange, version?: number) {
      const part = await comparePart(queryable, index, [range]);
      if (version !== undefined) await send(index, part, version);
      return { ...part, next: part.rest[0]?.from };
    },

    /** Sends the differences in some ranges until the time is over. Returns the rest. */
    async sendAll(
      tx: Queryable,
      index: string,
      ranges: readonly KeyRange[],
      { version, forMs }: SendOptions,
    ) {
      const end = performance.now() + forMs;
      let [left, sending] = [ranges, Promise.resolve()];
      try {
        do {
          // While OpenSearch writes a part, the next one is prepared.
          const part = await comparePart(tx, index, left);
          await sending;
          sending = send(index, part, version);
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

type SenderContext = { now: () => Date; logger?: Logger };
type SendOptions = { version: number; forMs: number };

interface Part {
  documents: number;
  /** Those that cannot be made should not be in the index. */
  differences: { key: number; make?: () => IndexDocument }[];
  rest: readonly KeyRange[];
}

function cut(ranges: readonly KeyRange[], least: number, most: number): KeyRange[] {
  return ranges
    .map(({ from, end }) => ({ from: Math.max(from, least), end: Math.min(end, most) }))
    .filter(({ from, end }) => from < end);
}

const digestsAtOnce = 10_000;

async function readDigests(client: OpenSearch, index: string, ranges: readonly KeyRange[]) {
  const digests = new Map<number, number>();
  const inRanges = ranges.map(({ from, end }) => ({ range: { key: { gte: from, lt: end } } }));
  const body = {
    ...{ size: digestsAtOnce, sort: [{ key: 'asc' }], track_total_hits: false, stored_fields: '_none_' },
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
