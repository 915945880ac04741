import { describe, expect, it } from 'vitest';
import { changed, without } from '../../tests/support/values/changed.ts';
import type { Segments } from './fault.ts';
import { jsonPath } from './json.ts';
import {
  parseBaselineFile,
  parseCatalogIndex,
  parseChangeFile,
  parseIndexEntry,
  parseManifest,
  parseSubscriberRecords,
} from './read-signed-files.ts';
import { CatalogIndex, IndexEntry, SubscriberRecordFile } from './signed-files.ts';
import { validator } from './validate.ts';

// Longer than our other tests: six kinds of documents, which refer to each other, with every fault of each.

const fault = (code: string, at: Segments) => expect.objectContaining({ code, path: jsonPath(at) });

const digest = `sha256:${'0f'.repeat(32)}`;
const next_update = '2026-03-02T12:00:00Z';
const signature = 'eyJhbGciOiJFZERTQSJ9..c2ln';
const entry = {
  catalogId: 'catalog-1',
  entryVersion: 4,
  catalogType: 'REGULAR' as const,
  networkIds: ['nfh.global/beckn-nodes'],
  isActive: true,
  baseline: { version: 2, url: 'https://bpp.example.org/catalogs/1.json', size: 100, digest },
  changes: [
    {
      version: 3,
      fromVersion: 2,
      toVersion: 3,
      url: 'https://bpp.example.org/changes/3.json',
      size: 10,
      digest,
    },
  ],
  dependencies: {
    masters: [{ catalogId: 'master-1', version: 1, indexUrl: 'https://nf.example.org/index.json' }],
  },
  signature,
};
const index = { nodeId: 'bpp.example.org/subscribers.beckn.one', next_update, catalogs: [entry], signature };
const catalog = {
  id: 'catalog-1',
  descriptor: { name: 'Chargers' },
  provider: { id: 'p', descriptor: { name: 'P' } },
  resources: [{ id: 'resource-1' }],
};
const directives = [{ resourceId: 'resource-1', extends: { masterResourceId: 'master-1' } }];
const baseline = { catalogId: 'catalog-1', version: 2, next_update, catalog, directives, signature };
const change = {
  catalogId: 'catalog-1',
  fromVersion: 2,
  toVersion: 3,
  next_update,
  resources: { upserts: [{ id: 'resource-2' }], removals: ['resource-1'] },
  offers: { upserts: [], removals: [] },
  catalog: { isActive: false },
  signature,
};

describe('an index', () => {
  it('is read without judging its entries, which stay as received', () => {
    validator(CatalogIndex)(index);
    const broken = { ...index, catalogs: [entry, { catalogId: 7, networkIds: null }] };
    expect(parseCatalogIndex(broken).catalogs).toEqual(broken.catalogs);
  });

  it('tolerates a list that is null or missing, a local offset, extra members and a missing signature', () => {
    const read = parseCatalogIndex({
      nodeId: 'n',
      next_update: '2026-03-02T17:30:00+05:30',
      catalogs: null,
      extra: 1,
    });
    expect(read).toMatchObject({ nodeId: 'n', catalogs: [] });
  });

  it('needs no next_update, as some publishers leave it out, but a readable one where it has one', () => {
    expect(parseCatalogIndex(without(index, ['next_update']))).not.toHaveProperty('next_update');
    for (const unset of ['', '0001-01-01T00:00:00Z', null]) {
      expect(parseCatalogIndex({ ...index, next_update: unset })).not.toHaveProperty('next_update');
      expect(parseBaselineFile({ ...baseline, next_update: unset })).not.toHaveProperty('next_update');
    }
    expect(() => parseCatalogIndex({ ...index, next_update: 'soon' })).toThrow(
      fault('SCH_INVALID_FORMAT', ['next_update']),
    );
  });

  it('is refused without nodeId', () => {
    expect(() => parseCatalogIndex(without(index, ['nodeId']))).toThrow(
      fault('SCH_REQUIRED_FIELD_MISSING', ['nodeId']),
    );
    expect(() => parseCatalogIndex('<html>')).toThrow(fault('SCH_SCHEMA_VALIDATION_FAILED', []));
  });
});

describe('an index entry', () => {
  it('is read as we write it', () => {
    expect(parseIndexEntry(entry)).toEqual(entry);
  });

  it('tolerates nulls, missing lists, a missing size of a change, object signatures and sha-256: digests', () => {
    const foreign = {
      ...entry,
      networkIds: null,
      schemaTypes: null,
      retiredAt: null,
      dependencies: { masters: null },
      changes: null,
      baseline: { ...entry.baseline, digest: digest.replace('sha256', 'SHA-256').toUpperCase() },
      signature: { keyId: 'n|key-1|ed25519', value: 'c2ln', canonicalization: 'JCS' },
      extra: null,
    };
    const read = parseIndexEntry(foreign);
    const unsaid = { ...foreign.signature, canonicalization: null };
    expect(parseIndexEntry({ ...foreign, signature: unsaid }).signature).toEqual(unsaid);
    expect(read.changes).toEqual([]);
    expect(read).not.toHaveProperty('networkIds');
    expect(read).not.toHaveProperty('retiredAt');
    expect(read).toHaveProperty('extra', null);
    expect(parseIndexEntry(without(entry, ['changes', 0, 'size'])).changes[0]).not.toHaveProperty('size');
  });

  it('reads a change that names only its version as the step from the one before', () => {
    const short = { version: 3, url: entry.changes[0]?.url, digest };
    expect(parseIndexEntry({ ...entry, changes: [short] }).changes[0]).toMatchObject({
      fromVersion: 2,
      toVersion: 3,
    });
  });

  it('has neither baseline nor changes when it is retired', () => {
    const retired = without({ ...entry, changes: [], retiredAt: '2026-03-01T00:00:00Z' }, ['baseline']);
    expect(parseIndexEntry(retired).retiredAt).toBe('2026-03-01T00:00:00Z');
    expect(() => parseIndexEntry(without(entry, ['baseline']))).toThrow(
      fault('SCH_REQUIRED_FIELD_MISSING', ['baseline']),
    );
  });

  it('is active where it does not say otherwise, and its type is read in any case', () => {
    const read = parseIndexEntry(without({ ...entry, catalogType: 'Master' }, ['isActive']));
    expect(read).toMatchObject({ isActive: true, catalogType: 'MASTER' });
    expect(parseIndexEntry({ ...entry, isActive: false }).isActive).toBe(false);
  });

  it('needs only its id, its version and its signature when it is retired, whatever else it holds', () => {
    const { catalogId, entryVersion, signature } = entry;
    const bare = { catalogId, entryVersion, signature, retiredAt: '2026-03-01T00:00:00Z' };
    const bareRead = { ...bare, catalogType: 'REGULAR', isActive: true, changes: [] };
    expect(parseIndexEntry(bare)).toEqual(bareRead);
    const onix = { ...bare, baseline: { url: '', size: 0, digest: '' }, changes: null };
    expect(parseIndexEntry(onix)).toEqual(bareRead);
    const odd = { ...onix, networkIds: [1], schemaTypes: 'all', catalogType: 7, dependencies: [] };
    expect(parseIndexEntry({ ...odd, changes: [{}], isActive: null })).toEqual(bareRead);
    expect(parseIndexEntry({ ...onix, networkIds: ['n'.repeat(513)] })).toEqual(bareRead);
    expect(parseIndexEntry({ ...entry, ...bare, isActive: false })).toMatchObject({
      ...{ catalogType: entry.catalogType, isActive: false, networkIds: entry.networkIds },
    });
    for (const name of ['catalogId', 'entryVersion', 'signature'])
      expect(() => parseIndexEntry(without(onix, [name]))).toThrow(
        fault('SCH_REQUIRED_FIELD_MISSING', [name]),
      );
  });

  it.each<[string, Segments, unknown]>([
    ['SCH_REQUIRED_FIELD_MISSING', ['signature'], undefined],
    ['SCH_REQUIRED_FIELD_MISSING', ['entryVersion'], undefined],
    ['SCH_REQUIRED_FIELD_MISSING', ['baseline', 'digest'], undefined],
    ['SCH_SCHEMA_VALIDATION_FAILED', ['entryVersion'], 1.5],
    ['SCH_SCHEMA_VALIDATION_FAILED', ['baseline', 'version'], -1],
    ['SCH_SCHEMA_VALIDATION_FAILED', ['changes', 0, 'version'], 4],
    ['SCH_SCHEMA_VALIDATION_FAILED', ['changes', 0, 'fromVersion'], 3],
    ['SCH_INVALID_ENUM', ['catalogType'], 'OTHER'],
    ['SCH_INVALID_FORMAT', ['baseline', 'digest'], 'md5:00'],
    ['SCH_INVALID_FORMAT', ['retiredAt'], 'yesterday'],
    ['SCH_INVALID_FORMAT', ['retiredAt'], ''],
  ])('%s at %j: %j', (code, at, value) => {
    expect(() => parseIndexEntry(changed(entry, at, value), ['catalogs', 5])).toThrow(
      fault(code, ['catalogs', 5, ...at]),
    );
  });
});

describe('a baseline file', () => {
  it('is read as we write it, and tolerates null lists and extra members', () => {
    expect(parseBaselineFile(baseline)).toEqual(baseline);
    const foreign = {
      ...baseline,
      extra: 1,
      directives: null,
      catalog: { ...catalog, offers: null, '@type': 'Catalog' },
    };
    expect(parseBaselineFile(foreign).catalog).toEqual({ ...catalog, '@type': 'Catalog' });
  });

  it('keeps a null inside domain attributes', () => {
    const attributes = { '@context': 'https://s.example/context.jsonld', '@type': 'T', model: null };
    const file = changed(baseline, ['catalog', 'resources', 0, 'resourceAttributes'], attributes);
    expect(parseBaselineFile(file).catalog.resources?.[0]?.resourceAttributes).toEqual(attributes);
  });

  it('never has a fromVersion', () => {
    expect(() => parseBaselineFile({ ...baseline, fromVersion: 1 })).toThrow(
      fault('SCH_FIELD_NOT_ALLOWED', ['fromVersion']),
    );
  });

  it('holds a catalog with resources or offers', () => {
    expect(() => parseBaselineFile(changed(baseline, ['catalog', 'resources'], null))).toThrow(
      fault('SCH_REQUIRED_FIELD_MISSING', ['catalog']),
    );
  });
});

describe('a change file', () => {
  it('is read as we write it', () => {
    expect(parseChangeFile(change)).toEqual(change);
  });

  it.each([
    ['missing', undefined],
    ['null', null],
    ['empty', {}],
    ['full of nulls', { upserts: null, removals: null }],
  ])('has empty lists where they are %s', (_how, lists) => {
    const { resources, offers } = parseChangeFile({ ...change, resources: lists, offers: lists });
    expect([resources, offers]).toEqual([
      { upserts: [], removals: [] },
      { upserts: [], removals: [] },
    ]);
  });

  it('with only a version leads there from the one before', () => {
    const short = { ...(without(without(change, ['fromVersion']), ['toVersion']) as object), version: 3 };
    expect(parseChangeFile(short)).toMatchObject({ fromVersion: 2, toVersion: 3 });
  });

  it('never leads backwards', () => {
    expect(() => parseChangeFile({ ...change, fromVersion: 3 })).toThrow(
      fault('SCH_SCHEMA_VALIDATION_FAILED', ['fromVersion']),
    );
  });

  it('upserts whole objects and removes by id', () => {
    expect(() => parseChangeFile(changed(change, ['resources', 'removals', 0], 7))).toThrow(
      fault('SCH_SCHEMA_VALIDATION_FAILED', ['resources', 'removals', 0]),
    );
    expect(() => parseChangeFile(changed(change, ['resources', 'upserts', 0, 'id'], undefined))).toThrow(
      fault('SCH_REQUIRED_FIELD_MISSING', ['resources', 'upserts', 0, 'id']),
    );
  });
});

describe('a manifest', () => {
  const manifest = {
    dedi_version: '0.1',
    type: 'dedi-manifest',
    domain: 'bpp.example.org',
    keys: [{ kid: 'key-1', kty: 'OKP', crv: 'Ed25519', x: 'awGPjRK6i_Vg_lWr-0xObclVxlwZXvTjWYtlu6NeOHk' }],
    updated_at: '2026-03-01T00:00:00Z',
    next_update,
    files: [{ registry: 'beckn_subscriber', url: 'https://bpp.example.org/dedi/subscriber.json', digest }],
    proof: { verification_method: 'key-1', canonicalization: 'JCS', jws: signature },
  };

  it('is read as we write it, and with null lists', () => {
    expect(parseManifest(manifest)).toEqual(manifest);
    expect(parseManifest({ ...manifest, name: null, files: null })).toMatchObject({ files: [] });
  });

  it('is refused without its proof', () => {
    expect(() => parseManifest(without(manifest, ['proof']))).toThrow(
      fault('SCH_REQUIRED_FIELD_MISSING', ['proof']),
    );
  });
});

describe('a subscriber record', () => {
  const url = 'https://bpp.example.org/index/catalogs.index.json';
  const record = {
    record_name: 'key-1',
    details: { subscriber_id: 'bpp.example.org', url: 'https://bpp.example.org/beckn', type: 'BPP' },
    meta: { catalog_index_urls: [{ url }] },
  };
  const file = {
    dedi_version: '0.1',
    type: 'dedi-file',
    source_url: 'https://bpp.example.org/dedi/subscriber.json',
    next_update,
    publisher: { domain: 'bpp.example.org', key: { kid: 'key-1', kty: 'OKP', crv: 'Ed25519', x: 'x' } },
    namespace: 'bpp.example.org',
    registry: { name: 'beckn_subscriber', state: 'live', updated_at: '2026-03-01T00:00:00Z' },
    records: [record],
    proof: { verification_method: 'key-1', canonicalization: 'JCS', jws: signature },
  };

  it('is read from a file, or bare', () => {
    validator(SubscriberRecordFile)(file);
    const read = { recordId: 'key-1', subscriberId: 'bpp.example.org', catalogIndexUrls: [url] };
    expect(parseSubscriberRecords(file)).toEqual([expect.objectContaining(read)]);
    const named = { ...file, publisher: { ...file.publisher, key: 'key-1' } };
    expect(parseSubscriberRecords(named)).toEqual([expect.objectContaining(read)]);
    expect(parseSubscriberRecords(record)).toEqual([expect.objectContaining(read)]);
  });

  it.each([[{}], [null], [{ records: [] }], [{ records: [{}] }]])('is not found in %j', (document) => {
    expect(() => parseSubscriberRecords(document)).toThrow(fault('SCH_REQUIRED_FIELD_MISSING', ['records']));
  });
});

describe('what we write', () => {
  it('has one schema with what we read', () => {
    expect(validator(IndexEntry)(parseIndexEntry(entry))).toEqual(entry);
  });
});
