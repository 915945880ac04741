import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sampleCatalog } from '../../../tests/support/hosted/hosted-documents.ts';
import { hostedNode, reference, served } from '../../../tests/support/hosted/hosted-node.ts';
import { arbitraryChange } from '../../../tests/support/values/arbitrary-change.ts';
import { star } from '../../../tests/support/values/costly-geometries.ts';
import type { JsonObject } from '../../protocol/json.ts';
import type { Check } from '../check-attributes.ts';
import type { HostedDocument } from './faults.ts';
import { openDocument } from './open-document.ts';
import { trustBaseline, trustChange } from './trust-files.ts';
import { trustEntry } from './trust-index.ts';

const hosted = hostedNode();
const { node } = hosted;
const host = 'https://bpp.example.org';
const limits = { maxEntries: 10, maxChanges: 10, maxMasters: 10 };
const fault = (document: HostedDocument, code: string) => expect.objectContaining({ document, code });

/** Has one rule: type Bad is wrong, and a Short lacks something, unless it may be partial. */
const checker: Check = {
  check: ({ '@type': type }, { partial } = {}) =>
    type === 'Bad' || (type === 'Short' && !partial)
      ? [{ code: 'SCH_SCHEMA_VALIDATION_FAILED', message: 'attributes are bad' }]
      : [],
};
const typed = (type: string) => ({ '@context': 'https://schema.example/context.jsonld', '@type': type });

/** The file under an entry that declares exactly this file, as if the node intended it. */
function readBaseline(file: JsonObject, entryChanges: object = {}) {
  const baseline = reference(`${host}/1.json`, { version: 2 }, file);
  const entry = trustEntry(hosted.entry({ baseline, changes: [], ...entryChanges }), {
    ...{ url: host, node, keys: hosted.keys(), limits },
  });
  const opened = openDocument('baseline', served(baseline.url as string, file), {
    digest: entry.entry.baseline?.digest,
    maxInflatedBytes: 1e6,
  });
  return trustBaseline(opened, { node, entry, keys: hosted.keys(), checker });
}

function readChange(file: JsonObject, entryChanges: object = {}) {
  const change = reference(`${host}/c.json`, { version: 3, fromVersion: 2, toVersion: 3 }, file);
  const entry = trustEntry(hosted.entry({ changes: [change], ...entryChanges }), {
    ...{ url: host, node, keys: hosted.keys(), limits },
  });
  const [announced] = entry.entry.changes;
  if (announced === undefined) throw new Error('no change');
  const opened = openDocument('change', served(announced.url, file), {
    digest: announced.digest,
    maxInflatedBytes: 1e6,
  });
  return trustChange(opened, announced, { node, entry, keys: hosted.keys(), checker });
}

const withCatalog = (changes: object) => hosted.baseline({ catalog: { ...sampleCatalog, ...changes } });
const upserting = (...upserts: object[]) => hosted.change({ resources: { upserts, removals: [] } });
const directive = (resourceId: string, variant?: object) => ({
  resourceId,
  extends: { masterResourceId: 'm' },
  ...(variant && { variant }),
});

describe('a baseline file', () => {
  it('is trusted as a whole', () => {
    const { file, signedBy } = readBaseline(hosted.baseline());
    expect(signedBy).toBe('key-1');
    expect(file.catalog).toEqual(sampleCatalog);
  });

  it('is read with null arrays', () => {
    expect(
      readBaseline(hosted.baseline({ catalog: { ...sampleCatalog, offers: null }, directives: null }))
        .signedBy,
    ).toBe('key-1');
  });

  it('may leave to its master what its schema requires, where a directive says so', () => {
    const short = [{ id: 'r1', resourceAttributes: typed('Short') }];
    const catalog = { ...sampleCatalog, resources: short };
    expect(readBaseline(hosted.baseline({ catalog, directives: [directive('r1')] })).signedBy).toBe('key-1');
    expect(() => readBaseline(hosted.baseline({ catalog }))).toThrow(fault('baseline', 'schema-violation'));
    expect(
      readBaseline(withCatalog({ resources: short, offers: [] }), { catalogType: 'MASTER' }).signedBy,
    ).toBe('key-1');
  });

  it('digest-mismatch: opened without the digest of the entry is refused', () => {
    const entry = trustEntry(hosted.entry(), { url: host, node, keys: hosted.keys(), limits });
    const opened = openDocument('baseline', served(host, hosted.baseline()), { maxInflatedBytes: 1e6 });
    expect(() => trustBaseline(opened, { node, entry, keys: hosted.keys(), checker })).toThrow(
      fault('baseline', 'digest-mismatch'),
    );
  });

  it('signature-invalid: whose own signature fails is discarded, although the entry declares it', () => {
    const forged = { ...hosted.baseline(), note: 'added after signing' };
    expect(() => readBaseline(forged)).toThrow(fault('baseline', 'signature-invalid'));
  });

  it('signature-missing: without its own signature is discarded, although the entry declares it', () => {
    const { signature: _, ...unsigned } = hosted.baseline();
    expect(() => readBaseline(unsigned)).toThrow(fault('baseline', 'signature-missing'));
  });

  it('malformed: a change file in its place is refused', () => {
    expect(() => readBaseline(hosted.change())).toThrow(fault('baseline', 'malformed'));
  });

  it.each([
    ['catalog-mismatch', 'another catalogId', hosted.baseline({ catalogId: 'catalog-2' })],
    ['catalog-mismatch', 'another id of its catalog', withCatalog({ id: 'catalog-2' })],
    ['version-mismatch', 'another version', hosted.baseline({ version: 3 })],
    ['foreign-owner', 'the bppId of somebody else', withCatalog({ bppId: 'other.example.org' })],
    ['empty-catalog', 'empty lists', withCatalog({ resources: [], offers: [] })],
    ['duplicate-id', 'a resource twice', withCatalog({ resources: [{ id: 'r' }, { id: 'r' }] })],
    ['duplicate-id', 'an offer twice', withCatalog({ offers: [{ id: 'o' }, { id: 'o' }] })],
    [
      'bad-directive',
      'a directive for what it does not hold',
      hosted.baseline({ directives: [directive('r9')] }),
    ],
    [
      'bad-directive',
      'two directives for one',
      hosted.baseline({ directives: [directive('r1'), directive('r1')] }),
    ],
    [
      'bad-directive',
      'one variant twice',
      hosted.baseline({ directives: ['r1', 'r2'].map((id) => directive(id, { type: 'geo', id: 'x' })) }),
    ],
    [
      'schema-violation',
      'bad resourceAttributes',
      withCatalog({ resources: [{ id: 'r', resourceAttributes: typed('Bad') }] }),
    ],
    [
      'schema-violation',
      'bad offerAttributes',
      withCatalog({ offers: [{ id: 'o', offerAttributes: typed('Bad') }] }),
    ],
    [
      'schema-violation',
      'bad considerationAttributes',
      withCatalog({
        offers: [{ id: 'o', considerations: [{ id: 'c', considerationAttributes: typed('Bad') }] }],
      }),
    ],
    [
      'schema-violation',
      'bad providerAttributes',
      withCatalog({ provider: { ...sampleCatalog.provider, providerAttributes: typed('Bad') } }),
    ],
    [
      'schema-violation',
      'a ring that crosses itself too often, on an offer',
      withCatalog({
        offers: [{ id: 'o', offerAttributes: { ...typed('Good'), zones: [{ area: star(101) }] } }],
      }),
    ],
  ])('%s: with %s is refused', (code, _what, file) => {
    expect(() => readBaseline(file)).toThrow(fault('baseline', code));
  });

  it('master-with-offers, bad-directive: of a MASTER has neither offers nor directives', () => {
    const master = { catalogType: 'MASTER' };
    expect(() => readBaseline(hosted.baseline(), master)).toThrow(fault('baseline', 'master-with-offers'));
    const catalog = { ...sampleCatalog, offers: [] };
    const file = hosted.baseline({ catalog, directives: [directive('r1')] });
    expect(() => readBaseline(file, master)).toThrow(fault('baseline', 'bad-directive'));
  });

  it('may name its node as bppId', () => {
    expect(readBaseline(withCatalog({ bppId: 'bpp.example.org' })).signedBy).toBe('key-1');
    expect(readBaseline(withCatalog({ bppId: node.identity })).signedBy).toBe('key-1');
  });

  it('is refused after any change of its JSON value', () => {
    fc.assert(
      fc.property(arbitraryChange(hosted.baseline()), (changed) => {
        expect(() => readBaseline(changed)).toThrow(fault('baseline', 'signature-invalid'));
      }),
    );
  });
});

describe('a change file', () => {
  it('is trusted as a whole', () => {
    expect(readChange(hosted.change()).file.resources.upserts).toEqual([{ id: 'r3' }]);
  });

  it('is read with null arrays, and with only a version', () => {
    expect(readChange(hosted.change({ resources: null, offers: { upserts: null } })).signedBy).toBe('key-1');
    const short = hosted.change({ fromVersion: undefined, toVersion: undefined, version: 3 });
    expect(readChange(short).file).toMatchObject({ fromVersion: 2, toVersion: 3 });
  });

  it('digest-mismatch: that the entry does not name is refused', () => {
    const entry = trustEntry(hosted.entry(), { url: host, node, keys: hosted.keys(), limits });
    const [announced] = entry.entry.changes;
    if (announced === undefined) throw new Error('no change');
    const opened = openDocument('change', served(host, hosted.change()), {
      digest: announced.digest,
      maxInflatedBytes: 1e6,
    });
    const reader = { node, entry, keys: hosted.keys(), checker };
    expect(trustChange(opened, announced, reader).signedBy).toBe('key-1');
    expect(() => trustChange(opened, { ...announced }, reader)).toThrow(fault('change', 'digest-mismatch'));
  });

  it.each([
    ['catalog-mismatch', 'another catalogId', hosted.change({ catalogId: 'catalog-2' })],
    ['version-mismatch', 'another fromVersion', hosted.change({ fromVersion: 1 })],
    ['version-mismatch', 'another toVersion', hosted.change({ toVersion: 4 })],
    [
      'malformed',
      'resources among the members of the catalog',
      hosted.change({ catalog: { resources: [] } }),
    ],
    ['catalog-mismatch', 'another id of the catalog', hosted.change({ catalog: { id: 'catalog-2' } })],
    [
      'foreign-owner',
      'the bppId of somebody else',
      hosted.change({ catalog: { bppId: 'other.example.org' } }),
    ],
    ['duplicate-id', 'a resource twice', upserting({ id: 'r' }, { id: 'r' })],
    ['duplicate-id', 'a removal twice', hosted.change({ offers: { upserts: [], removals: ['o', 'o'] } })],
    [
      'bad-directive',
      'a directive for what it does not upsert',
      hosted.change({ directives: [directive('r1')] }),
    ],
    ['schema-violation', 'bad attributes', upserting({ id: 'r', resourceAttributes: typed('Bad') })],
    [
      'schema-violation',
      'a ring that crosses itself too often',
      upserting({ id: 'r', deep: { area: star(101) } }),
    ],
  ])('%s: with %s is refused', (code, _what, file) => {
    expect(() => readChange(file)).toThrow(fault('change', code));
  });

  it('is read where it repeats the id of its catalog', () => {
    const catalog = { id: 'catalog-1', descriptor: { name: 'More chargers' } };
    expect(readChange(hosted.change({ catalog })).file.catalog).toMatchObject(catalog);
  });

  it('is refused after any change of its JSON value', () => {
    fc.assert(
      fc.property(arbitraryChange(hosted.change()), (changed) => {
        expect(() => readChange(changed)).toThrow(fault('change', 'signature-invalid'));
      }),
    );
  });
});
