import { sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostedNode, served } from '../../../tests/support/hosted/hosted-node.ts';
import { arbitraryChange } from '../../../tests/support/values/arbitrary-change.ts';
import { goCanonicalJson } from '../../protocol/canonical-json.ts';
import type { Json, JsonObject } from '../../protocol/json.ts';
import { signDocument } from '../../protocol/signed-document.ts';
import type { HostedDocument } from './faults.ts';
import { openDocument } from './open-document.ts';
import type { Keys } from './signer.ts';
import { claimedKeysOfIndex, trustEntries, trustEntry, trustIndex } from './trust-index.ts';

const hosted = hostedNode();
const { node } = hosted;
const url = 'https://bpp.example.org/index/catalogs.index.json';
const limits = { maxEntries: 3, maxChanges: 2, maxMasters: 2 };
const fault = (document: HostedDocument, code: string) => expect.objectContaining({ document, code });

const open = (document: Json) => openDocument('index', served(url, document), { maxInflatedBytes: 1e6 });
const readIndex = (document: JsonObject, allowUnsigned = false, keys: Keys = hosted.keys()) =>
  trustIndex(open(document), { node, keys, limits, allowUnsigned });
const readEntry = (entry: unknown, keys = hosted.keys()) => trustEntry(entry, { url, node, keys, limits });
const readEntries = (entries: readonly unknown[]) =>
  trustEntries(readIndex(hosted.index(entries)), { node, keys: hosted.keys(), limits });

describe('an index', () => {
  it('is trusted when a key of the node signed it, and leaves its entries to be judged', () => {
    const index = readIndex(hosted.index([{ catalogId: 7 }]));
    expect(index).toMatchObject({ url, signedBy: 'key-1', nextUpdate: '2026-03-02T12:00:00Z' });
    expect(index.entries).toEqual([{ catalogId: 7 }]);
  });

  it('claims its own key and those of its entries', () => {
    const entry = signDocument({ catalogId: 'c' }, hosted.key('key-2'), 'nfh014');
    const objectSigned = { catalogId: 'd', signature: { keyId: 'bpp.example.org|key-3|ed25519', value: '' } };
    const claimed = claimedKeysOfIndex(open(hosted.index([entry, objectSigned, entry, 7] as Json[])));
    expect(claimed).toEqual(['key-1', 'key-2']);
  });

  it('may name its node as a bare domain', () => {
    expect(readIndex(hosted.index([], { nodeId: 'bpp.example.org' })).signedBy).toBe('key-1');
  });

  it('node-mismatch: of another node than the one whose record lists it is refused', () => {
    expect(() => readIndex(hosted.index([], { nodeId: 'other.example.org' }))).toThrow(
      fault('index', 'node-mismatch'),
    );
  });

  it('signature-missing: without its own signature is refused, unless that is allowed', () => {
    const { signature: _, ...unsigned } = hosted.index([]);
    expect(() => readIndex(unsigned)).toThrow(fault('index', 'signature-missing'));
    expect(readIndex(unsigned, true).signedBy).toBeUndefined();
  });

  it('signature-invalid: with a wrong signature is refused, whatever is allowed', () => {
    const forged = { ...hosted.index([]), next_update: '2027-01-01T00:00:00Z' };
    expect(() => readIndex(forged, true)).toThrow(fault('index', 'signature-invalid'));
  });

  it('key-unknown: signed with a key that the registry does not know is refused', () => {
    expect(() => readIndex(hosted.index([]), false, new Map())).toThrow(fault('index', 'key-unknown'));
  });

  it('malformed: with a next_update that is no time is refused; without one it is read', () => {
    expect(() => readIndex(hosted.index([], { next_update: 'soon' }))).toThrow(fault('index', 'malformed'));
    expect(readIndex(hosted.index([], { next_update: undefined })).nextUpdate).toBeUndefined();
  });

  it('registry-unavailable: signed with a key that nobody could be asked about is not judged', () => {
    const keys = new Map([['key-1', { kind: 'unavailable', reason: 'It is down.' } as const]]);
    expect(() => readIndex(hosted.index([]), false, keys)).toThrow(fault('index', 'registry-unavailable'));
  });

  it('too-many-entries: beyond the limit is refused', () => {
    expect(() => readIndex(hosted.index([{}, {}, {}, {}]))).toThrow(fault('index', 'too-many-entries'));
  });

  it('is refused after any change of its JSON value', () => {
    fc.assert(
      fc.property(arbitraryChange(hosted.index([hosted.entry()])), (changed) => {
        expect(() => readIndex(changed)).toThrow(fault('index', 'signature-invalid'));
      }),
    );
  });
});

describe('the entries of an index', () => {
  it('are judged one by one: a bad one does not take the others with it', () => {
    const other = { ...hosted.entry({ catalogId: 'catalog-2' }), isActive: false };
    const { entries, faults } = readEntries([hosted.entry(), other, 'text']);
    expect(entries.map(({ entry }) => entry.catalogId)).toEqual(['catalog-1']);
    expect(faults).toEqual([
      { catalogId: 'catalog-2', fault: fault('entry', 'signature-invalid') },
      { fault: fault('entry', 'malformed') },
    ]);
  });

  it('entry-twice: two for one catalog are both discarded', () => {
    const { entries, faults } = readEntries([hosted.entry(), hosted.entry({ entryVersion: 5 })]);
    expect(entries).toEqual([]);
    expect(faults.map(({ fault }) => fault.code)).toEqual(['entry-twice', 'entry-twice']);
  });
});

describe('an entry', () => {
  it('is trusted when a key of the node signed it', () => {
    expect(readEntry(hosted.entry()).signedBy).toBe('key-1');
  });

  it.each(['spec', 'nfh014'] as const)('is read in the profile %s', (profile) => {
    const { signature: _, ...unsigned } = hosted.entry();
    expect(readEntry(signDocument(unsigned, hosted.key(), profile)).signedBy).toBe('key-1');
  });

  it('is read with null arrays and a key that is named as in requests', () => {
    const { signature: _, ...unsigned } = hosted.entry({
      networkIds: null,
      changes: null,
      schemaTypes: null,
    });
    const signed = signDocument(
      unsigned,
      { ...hosted.key(), recordId: 'bpp.example.org|key-1|ed25519' },
      'nfh014',
    );
    expect(readEntry(signed).entry.changes).toEqual([]);
  });

  it('is read when it was canonicalised with Go’s encoder', () => {
    const content = { ...hosted.entry({ note: 'a < b & c \u2028' }) };
    delete content.signature;
    const value = sign(null, Buffer.from(goCanonicalJson(content)), hosted.key().privateKey).toString(
      'base64',
    );
    expect(readEntry({ ...content, signature: { keyId: 'key-1', value } }).signedBy).toBe('key-1');
  });

  it('key-foreign: signed with a key that names another node is refused', () => {
    const { signature: _, ...unsigned } = hosted.entry();
    const signed = signDocument(
      unsigned,
      { ...hosted.key(), recordId: 'other.example.org|key-1|ed25519' },
      'nfh014',
    );
    expect(() => readEntry(signed)).toThrow(fault('entry', 'key-foreign'));
  });

  it('signature-missing: is refused without a signature, whatever is allowed for the index', () => {
    const { signature: _, ...unsigned } = hosted.entry();
    expect(() => readEntry(unsigned)).toThrow(fault('entry', 'signature-missing'));
  });

  it('signature-invalid: is refused with a signature that is none', () => {
    expect(() => readEntry({ ...hosted.entry(), signature: 'e30..AA' })).toThrow(
      fault('entry', 'signature-invalid'),
    );
  });

  it('key-unusable: is refused with an expired key', () => {
    const keys = new Map([['key-1', { kind: 'unusable' as const, reason: 'the key is in state expired' }]]);
    expect(() => readEntry(hosted.entry(), keys)).toThrow(fault('entry', 'key-unusable'));
  });

  it('malformed: is refused without a baseline, unless it is retired', () => {
    expect(() => readEntry(hosted.entry({ baseline: undefined }))).toThrow(fault('entry', 'malformed'));
    const retired = hosted.entry({ baseline: undefined, changes: [], retiredAt: '2026-03-01T00:00:00Z' });
    expect(readEntry(retired).entry.retiredAt).toBe('2026-03-01T00:00:00Z');
  });

  it('too-many-changes, too-many-masters: is refused beyond the limits', () => {
    const [change] = readEntry(hosted.entry()).entry.changes;
    expect(() => readEntry(hosted.entry({ changes: [change, change, change] }))).toThrow(
      fault('entry', 'too-many-changes'),
    );
    const masters = ['a', 'b', 'c'].map((catalogId) => ({ catalogId }));
    expect(() => readEntry(hosted.entry({ dependencies: { masters } }))).toThrow(
      fault('entry', 'too-many-masters'),
    );
  });

  it.each(['spec', 'nfh014'] as const)(
    'is refused after any change of its JSON value, in the profile %s',
    (profile) => {
      const entry = hostedNode('bpp.example.org', profile);
      fc.assert(
        fc.property(arbitraryChange(entry.entry()), (changed) => {
          expect(() => readEntry(changed, entry.keys())).toThrow(fault('entry', 'signature-invalid'));
        }),
      );
    },
  );
});
