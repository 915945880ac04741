import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SigningKey } from '../../src/protocol/keys.ts';
import { coffeeContext } from '../support/catalogs/masters.ts';
import { crawl } from '../support/hosted/crawl.ts';
import { openScene, type Scene, teas } from '../support/hosted/crawl-scene.ts';
import { type Forgery, type ForgeryOptions, forge } from '../support/hosted/forged-node.ts';
import type { Body } from '../support/network/actor.ts';
import { held } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import type { Provider, Spoiler } from '../support/network/provider.ts';
import { goJson, jcs, sha256, signing } from '../support/peers/foreign-hands.ts';

// Nodes whose files come from other implementations, each with different conventions, read by the whole crawler over HTTP: a baseline, then a change,
// a pause and the end. Their content is served unchanged, and no fault is reported.

interface Foreigner {
  what: string;
  /** How its documents differ from ours; all of them are signed again. */
  forgery?: Forgery;
  options?: ForgeryOptions;
  /** What its host does to the files. */
  host?(serve: Spoiler): Spoiler;
}

const recordId = ({ recordId: id }: SigningKey) => id;
const requestKeyId = ({ subscriberId, recordId: id }: SigningKey) => `${subscriberId}|${id}|ed25519`;
const ofJcs = { canonical: jcs, keyId: recordId, encoding: 'base64' } as const;

/** Resources whose texts, names and numbers are written in several ways. */
function spiced(from: number, to: number): object[] {
  return teas(from, to).map((tea) => ({
    ...tea,
    descriptor: { ...tea.descriptor, name: `${tea.descriptor.name} & <i>milk</i>\u2028"1" \u{1F375}` },
    resourceAttributes: {
      ...{ '@context': coffeeContext, '@type': 'Coffee' },
      ...{ '\u{1F375}': 1e21, '\uFF01': 1e-7, Z: 0.1, a: 'é\u2029' },
    },
  }));
}

/** Empty lists are nil slices in Go, which it writes as null. */
function nullify(document: Body, ...names: string[]): void {
  for (const name of names) {
    const list = document[name];
    if (list === undefined || (Array.isArray(list) && list.length === 0)) document[name] = null;
  }
}

const foreigners: Foreigner[] = [
  {
    what: 'object signatures in Base64, sha-256: digests',
    options: { hand: { sign: signing(ofJcs), digest: (bytes) => `sha-256:${sha256(bytes)}` } },
  },
  {
    what: 'object signatures in base64url by keys that are named as in requests, digests in capital letters',
    options: {
      hand: {
        sign: signing({ canonical: jcs, keyId: requestKeyId, encoding: 'base64url' }),
        digest: (bytes) => `SHA-256:${sha256(bytes).toUpperCase()}`,
      },
    },
  },
  {
    what: 'the canonical form of Go',
    forgery: {
      index: (document) => Object.assign(document, { note: '<a & b>' }),
      baseline: (document) => Object.assign(document, { checks: [-0, 0, 1e21] }),
      change: (document) => Object.assign(document, { checks: [-0, 0, 1e21] }),
    },
    options: {
      hand: {
        sign: signing({ ...ofJcs, canonical: goJson }),
        write: (_kind, document) => Buffer.from(goJson(document)),
      },
    },
  },
  {
    what: 'null in the place of lists and of what is not there',
    forgery: {
      entry: (document) => {
        nullify(document, 'networkIds', 'schemaTypes', 'changes', 'dependencies', 'retiredAt', 'baseline');
      },
      baseline: (document) => {
        nullify(document, 'directives');
        nullify(document.catalog, 'offers');
      },
      change: (document) => {
        nullify(document, 'directives', 'catalog');
        for (const list of [document.resources, document.offers]) nullify(list, 'upserts', 'removals');
      },
    },
  },
  {
    what: 'lists that are left out where they are empty',
    forgery: {
      entry: (document) => {
        if (document.changes?.length === 0) delete document.changes;
        document.dependencies = { masters: null };
      },
      change: (document) => {
        if (document.offers.upserts.length === 0) delete document.offers;
        if (document.resources.removals.length === 0) delete document.resources.removals;
      },
    },
  },
  {
    what: 'changes that name only the version that they lead to, without a size',
    forgery: {
      entry: (document) => {
        for (const change of document.changes ?? []) {
          delete change.fromVersion;
          delete change.toVersion;
          delete change.size;
        }
      },
      change: (document) => {
        document.version = document.toVersion;
        delete document.fromVersion;
        delete document.toVersion;
      },
    },
  },
  {
    what: 'the index of an ONIX publisher: no next_update, types in small letters, a change that repeats the id of its catalog, a bare end',
    forgery: {
      index: (document) => {
        delete document.next_update;
      },
      entry: (document) => {
        document.catalogType = document.catalogType.toLowerCase();
        if (document.isActive) delete document.isActive;
        if (document.retiredAt === undefined) return;
        delete document.catalogType;
        delete document.isActive;
        Object.assign(document, { baseline: { url: '', size: 0, digest: '' }, changes: null });
      },
      change: (document) => {
        document.catalog = { ...document.catalog, id: document.catalogId };
      },
    },
    options: { hand: { sign: signing(ofJcs), digest: (bytes) => `sha-256:${sha256(bytes)}` } },
  },
  {
    what: 'times of another zone, and members that nobody knows',
    forgery: Object.fromEntries(
      (['manifest', 'record', 'index', 'entry', 'baseline', 'change'] as const).map((kind) => [
        kind,
        (document: Body) => {
          document['x-written-by'] = { name: 'another', versions: [1, null] };
          if (document.next_update !== undefined) document.next_update = inKolkata(document.next_update);
          if (document.retiredAt !== undefined) document.retiredAt = inKolkata(document.retiredAt);
        },
      ]),
    ),
  },
  {
    what: 'a bare record, not signed, whose addresses are JSON text, and a manifest at the other of its places',
    forgery: {
      record: (document) => {
        const { record_name, details, meta } = document.records[0];
        for (const name of Object.keys(document)) delete document[name];
        const urls = JSON.stringify(meta.catalog_index_urls);
        Object.assign(document, { record_name, details, meta: { catalog_index_urls: urls } });
      },
    },
    options: { signed: { record: 'as it was' } },
    host: (serve) => (path, answer, response) =>
      path === '/.well-known/dedi.index.json'
        ? { status: 404, body: Buffer.alloc(0) }
        : serve(path, answer, response),
  },
  {
    what: 'a record that lists addresses as texts, under its details',
    forgery: {
      record: ({ records: [record] }) => {
        record.details.catalog_index_urls = record.meta.catalog_index_urls.map(({ url }: Body) => url);
        delete record.meta;
      },
    },
  },
  {
    what: 'a latest file and a crawl hint, as the public draft has them',
    forgery: {
      entry: (document) => {
        const latest = { version: 9, url: 'https://cdn.example/latest.json', size: 1, digest: 'sha-256:00' };
        if (document.baseline) Object.assign(document, { latest, crawlHint: 'hourly' });
      },
    },
  },
  {
    what: 'gzipped files with the digest of what is served',
    options: { hand: { write: zipped, digest: (bytes) => `sha256:${sha256(bytes)}` } },
  },
  {
    what: 'gzipped files with the digest of what is in them, and an encoding beside it',
    forgery: {
      entry: (document) => {
        for (const file of [document.baseline, ...(document.changes ?? [])]) if (file) file.encoding = 'gzip';
      },
    },
    options: {
      hand: {
        write: zipped,
        digest: (bytes) => `sha256:${sha256(isGzip(bytes) ? gunzipSync(bytes) : bytes)}`,
      },
    },
  },
  {
    what: 'files that their host compresses on the way',
    host: (serve) => async (path, answer, response) => {
      const served = await serve(path, answer, response);
      if (typeof served !== 'object' || served.body === undefined) return served;
      const headers = { ...served.headers, 'content-encoding': 'gzip' };
      return { ...served, headers, body: gzipSync(served.body) };
    },
  },
];

function zipped(kind: string, document: Body): Buffer {
  const text = JSON.stringify(document);
  return kind === 'baseline' || kind === 'change' ? gzipSync(text) : Buffer.from(text);
}

function isGzip(bytes: Buffer): boolean {
  return bytes.readUInt16BE(0) === 0x1f8b;
}

/** The same instant in India's local time. */
function inKolkata(instant: string): string {
  const shifted = new Date(Date.parse(instant) + 5.5 * 3_600_000).toISOString();
  return `${shifted.slice(0, 19)}+05:30`;
}

function speak(provider: Provider, { forgery = {}, options, host = (serve) => serve }: Foreigner): void {
  provider.spoil(host(forge(provider, forgery, options)));
}

describe('what another implementation wrote, with', () => {
  let network: TestNetwork;
  const scenes: Scene[] = [];
  const lives: Body[] = [];

  beforeAll(async () => {
    network = await startNetwork({ settings: { DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]) } });
    for (const foreigner of foreigners) {
      const scene = await openScene(network);
      speak(scene.provider, foreigner);
      scenes.push(scene);
    }
    // All at the same time, because a crawl takes a while.
    const offers = [{ id: 'o1', resourceIds: ['r5'] }];
    const acts: [step: string, act: (scene: Scene) => Promise<unknown>][] = [
      ['published', ({ offer }) => offer(0, 10, { resources: spiced(0, 10), offers })],
      ['changed', ({ offer }) => offer(1, 11, { resources: spiced(1, 11), offers })],
      ['paused', ({ provider, catalogId }) => provider.publish({ pause: [catalogId] })],
      ['retired', ({ provider, catalogId }) => provider.publish({ retire: [catalogId] })],
    ];
    for (const [step, act] of acts) {
      for (const scene of scenes) await act(scene);
      await crawl(network.database);
      for (const [index, { catalogId }] of scenes.entries()) {
        lives[index] = { ...lives[index], [step]: await held(network.database, catalogId) };
      }
    }
  });
  afterAll(async () => {
    for (const scene of scenes) await scene.end();
    await network?.close();
  });

  it.each(foreigners.map(({ what }, index) => ({ what, index })))('$what, is read', async ({ index }) => {
    const { published, changed, paused, retired } = lives[index] ?? {};
    expect(await scenes[index]?.lines()).toEqual([]);
    expect(published).toMatchObject({ served: true, head: { isActive: true }, offers: [{ id: 'o1' }] });
    expect(published.resources).toEqual(spiced(0, 10));
    expect(changed).toMatchObject({ served: true, offers: [{ id: 'o1' }] });
    expect(changed.resources).toEqual(spiced(1, 11));
    expect(paused).toMatchObject({ served: true, head: { isActive: false } });
    expect(retired).toMatchObject({ served: false });
  });

  it('is read by the change files, not by ever new baselines', () => {
    const paths = scenes.map(({ provider }) => provider.requests.map(({ path }) => path));
    const changes = paths.map((asked) => asked.filter((path) => path.includes('/changes/')).length);
    expect(changes).toEqual(scenes.map(() => 1));
  });
});
