import { monitorEventLoopDelay } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFile } from '../../src/discovery/crawl/read-content.ts';
import { judgeIndex } from '../../src/discovery/crawl/read-index.ts';
import type { Reader } from '../../src/discovery/crawl/reader.ts';
import { type Aside, asideBytes, createAside } from '../../src/discovery/crawl/verify-aside.ts';
import { silentLogger } from '../../src/logger.ts';
import { sha256Digest } from '../../src/protocol/digest.ts';
import type { JsonObject } from '../../src/protocol/json.ts';
import type { ParticipantRecord } from '../../src/protocol/registry-record.ts';
import { signDocument } from '../../src/protocol/signed-document.ts';
import type { ServedFile } from '../../src/rules/self-hosted/open-document.ts';
import { trustEntry } from '../../src/rules/self-hosted/trust-index.ts';
import { sampleCatalog } from '../support/hosted/hosted-documents.ts';
import { hostedNode, nextUpdate } from '../support/hosted/hosted-node.ts';
import { takeTime } from '../support/time.ts';

// Large files are verified in a worker thread, with the same result as on the main thread.

const hosted = hostedNode();
const { node } = hosted;
const { signal } = new AbortController();
const url = 'https://bpp.example.org/1.json';
const limits = { maxEntries: 5_000, maxChanges: 10, maxMasters: 10 };

let aside: Aside;
beforeAll(() => {
  aside = createAside({ logger: silentLogger(), deadlineMs: 60_000 });
});
afterAll(() => aside.close());

/** The registry lists only the first key of the node; others are found by name. */
const registry: Reader['registry'] = {
  findSubscriber: async () => [{ recordId: 'key-1' } as ParticipantRecord],
  findKey: async (_node, recordId) =>
    recordId.startsWith('key-') ? hosted.lookup(recordId) : { kind: 'unknown-key' },
};
const reader = (changes: Partial<Reader> = {}) =>
  ({
    registry,
    checker: () => ({
      check: ({ '@type': type }) =>
        type === 'Bad' ? [{ code: 'SCH_SCHEMA_VALIDATION_FAILED', message: 'bad' }] : [],
    }),
    limits: { ...limits, maxInflatedBytes: 2 ** 28 },
    allowUnsignedIndex: false,
    ...changes,
  }) as Reader;

const resources = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `r${index}`, descriptor: { name: 'Tea '.repeat(50) } }));
const sign = (document: object, recordId = 'key-1') =>
  signDocument(document as JsonObject, hosted.key(recordId), 'spec') as unknown as JsonObject;
const bytesOf = (document: JsonObject) => Buffer.from(JSON.stringify(document));

const baseline = (items: object[], recordId?: string) => {
  const catalog = { ...sampleCatalog, resources: items };
  return bytesOf(sign({ catalogId: 'catalog-1', version: 2, next_update: nextUpdate, catalog }, recordId));
};

/** Reads bytes as the baseline of an entry that declares them. */
function readBaseline(wire: Uint8Array, by: Reader, declared = wire) {
  const reference = { version: 2, url, size: wire.length, digest: sha256Digest(declared) };
  const value = hosted.entry({ baseline: reference, changes: [] });
  const entry = trustEntry(value, { url, node, keys: hosted.keys(), limits });
  const file: ServedFile = { url, wire };
  const task = { file, maxInflatedBytes: 2 ** 28, node, entry, kind: 'baseline' as const };
  return readFile(by, { ...task, reference: entry.entry.baseline ?? reference }, signal);
}

/** The result of both ways, which must be equal. */
async function bothWays<T>(read: (by: Reader) => Promise<T>): Promise<T | { fault: unknown }> {
  const outcome = (by: Reader) =>
    read(by).catch(({ name, document, code, message }) => ({ fault: { name, document, code, message } }));
  const [there, here] = [await outcome(reader({ aside })), await outcome(reader())];
  expect(JSON.stringify(there)).toBe(JSON.stringify(here));
  return there;
}

describe('a large file', () => {
  const many = resources(5_000);

  it('is trusted with all that it holds, plain or gzipped', async () => {
    const bytes = baseline(many);
    expect(bytes.length).toBeGreaterThan(asideBytes);
    const plain = await bothWays((by) => readBaseline(bytes, by));
    const gzipped = await bothWays((by) => readBaseline(gzipSync(bytes), by, bytes));
    expect(plain).toMatchObject({ signedBy: 'key-1', file: { version: 2, catalog: { resources: many } } });
    expect(gzipped).toEqual(plain);
  });

  it('is trusted when it is signed with a key that the registry knows, but does not list', async () => {
    expect(await bothWays((by) => readBaseline(baseline(many, 'key-2'), by))).toMatchObject({
      signedBy: 'key-2',
    });
  });

  it.each([
    ['digest-mismatch', () => [baseline(many), Buffer.from('{}')]],
    ['signature-invalid', () => [Buffer.from(baseline(many).toString().replace('"r7"', '"r8x"'))]],
    ['key-unknown', () => [baseline(many, 'other-1')]],
    ['not-json', () => [Buffer.alloc(asideBytes, 60)]],
    ['duplicate-id', () => [baseline([...many, ...many])]],
    [
      'schema-violation',
      () => [
        baseline([
          ...many,
          { id: 'bad', resourceAttributes: { '@context': 'https://a.example/', '@type': 'Bad' } },
        ]),
      ],
    ],
  ] as const)('%s: is discarded, and it is said why', async (code, files) => {
    const [wire = Buffer.alloc(0), declared] = files();
    expect(await bothWays((by) => readBaseline(wire, by, declared))).toMatchObject({ fault: { code } });
  });

  it('holds up nobody else while it is verified', async () => {
    const bytes = baseline(resources(60_000));
    const longestWait = async (by: Reader) => {
      const delays = monitorEventLoopDelay({ resolution: 5 });
      delays.enable();
      await takeTime(20);
      await readBaseline(bytes, by);
      await takeTime(20);
      delays.disable();
      return delays.max;
    };
    await readBaseline(bytes, reader({ aside }));
    // Another process may delay one measurement, but not all.
    const there = [];
    for (let attempt = 0; attempt < 3; attempt += 1) there.push(await longestWait(reader({ aside })));
    expect(Math.min(...there)).toBeLessThan((await longestWait(reader())) / 3);
  });

  it('verifies-too-slowly: is given up after a while, and the next one is verified', async () => {
    const hurried = createAside({ logger: silentLogger(), deadlineMs: 20 });
    const slow = readBaseline(baseline(resources(20_000)), reader({ aside: hurried }));
    await expect(slow).rejects.toMatchObject({ name: 'CrawlFault', code: 'verifies-too-slowly', url });
    await hurried.close();
    await readBaseline(baseline(many), reader({ aside }));
  });
});

describe('a large index', () => {
  it('is trusted with its entries, and the bad ones are discarded', async () => {
    const entries = Array.from({ length: 300 }, (_, index) =>
      hosted.entry({ catalogId: `catalog-${index}`, note: 'x'.repeat(2_000) }),
    );
    const spoilt = entries.map((entry, index) => (index === 3 ? { ...entry, entryVersion: 99 } : entry));
    const wire = bytesOf(hosted.index(spoilt));
    expect(wire.length).toBeGreaterThan(asideBytes);
    const read = await bothWays(async (by) => {
      const { index, entries, faults } = await judgeIndex(by, node, { url, wire }, signal);
      const { nextUpdate, signedBy } = index;
      return {
        nextUpdate,
        signedBy,
        entries,
        faults: faults.map(({ catalogId, fault }) => [catalogId, fault.code]),
      };
    });
    expect(read).toMatchObject({ signedBy: 'key-1', faults: [['catalog-3', 'signature-invalid']] });
    expect((read as { entries: unknown[] }).entries).toHaveLength(299);
  });
});
