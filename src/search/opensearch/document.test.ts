import { describe, expect, it } from 'vitest';
import { sha256Digest } from '../../protocol/digest.ts';
import type { Stored } from '../confirm/read-subjects.ts';
import { indexFormats, newestOf } from '../entries/index-format.ts';
import { keyOf } from '../keys.ts';
import { createDocuments, digestOf } from './document.ts';

const now = new Date('2026-11-19T12:00:00Z');
const format = newestOf(indexFormats);
const offer = { key: keyOf(7, 2 ** 25), digest: 3, offer: { id: 'o', descriptor: { name: 'Night tariff' } } };

/** A resource with everything that a document is made of. */
function stored({ own = 1, networks = ['a.org/b'], isActive = true, ...subject } = {}): Stored {
  const resource = {
    id: 'r',
    descriptor: { name: 'Charger 60kW' },
    resourceAttributes: { attributes: { price: 12.5, at: { type: 'Point', coordinates: [77.59, 12.97] } } },
  };
  const head = { id: 'c', descriptor: { name: 'City' }, provider: { id: 'p', descriptor: { name: 'Volt' } } };
  const state = {
    type: 'REGULAR',
    isActive,
    networkIds: networks,
    schemaTypes: new Set(['s']),
    validity: {},
  };
  return {
    ...{ key: keyOf(7, 1), digest: own, text: JSON.stringify(resource), generation: 1 },
    subject: {
      ...{ key: keyOf(7, 1), digest: own, resource, offers: [offer], until: now.getTime() + 1 },
      home: {
        key: 7,
        digest: 2,
        id: 'c',
        owner: 'p.org/r',
        providerId: 'p',
        networkIds: networks,
        head,
        state,
      },
      ...subject,
    } as Stored['subject'],
  };
}

describe('a document of the index in OpenSearch', () => {
  it('is the same for ever, or has another version', () => {
    const made = createDocuments(format, now)(stored());
    expect(sha256Digest(Buffer.from(made.text))).toBe(
      'sha256:5159d91b195c1f4e8765bceb50bf2432d68f8a1590af3e41a0e50705a1cdae07',
    );
  });

  it('has another digest when anything that it is made of is different', () => {
    const others = [
      stored({ own: 9 }),
      stored({ networks: [] }),
      stored({ isActive: false }),
      stored({ offers: [] } as object),
      stored({ offers: [{ ...offer, digest: 9 }] } as object),
      stored({ until: Number.POSITIVE_INFINITY } as object),
      { ...stored(), subject: undefined },
    ];
    const digests = [stored(), ...others].map((each) => digestOf(each, format, now));
    expect(new Set(digests).size).toBe(digests.length);
    expect(digestOf(stored(), format, now)).toBe(digests[0]);
  });

  it('has the words of the catalog that its digest names, also if the catalog changed between two reads', () => {
    const make = createDocuments(format, now);
    const before = { id: 'c', descriptor: { name: 'Village' }, provider: { id: 'p' } };
    make({ key: keyOf(7, 0), digest: 8, text: JSON.stringify(before), generation: 1 });
    expect(make(stored())).toEqual(createDocuments(format, now)(stored()));
  });

  it('has the digest of the resource that it is made of, also if the resource changed between two reads', () => {
    const late = { ...stored(), digest: 9 };
    expect(createDocuments(format, now)(late)).toEqual(createDocuments(format, now)(stored()));
  });
});
