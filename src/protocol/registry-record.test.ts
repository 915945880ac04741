import { describe, expect, it } from 'vitest';
import { LookupAnswer } from './registry-answers.ts';
import {
  findParticipantRecord,
  parseLookupAnswer,
  parseQueryAnswer,
  unusableReason,
} from './registry-record.ts';
import { validator } from './validate.ts';

const record = {
  record_id: 'key-1',
  record_name: 'key-1',
  namespace: 'bpp.example.org',
  registry_name: 'subscribers.beckn.one',
  details: {
    subscriber_id: 'bpp.example.org',
    url: 'https://bpp.example.org/beckn',
    type: 'BPP',
    domain: 'energy',
    signing_public_key: 'awGPjRK6i/Vg/lWr+0xObclVxlwZXvTjWYtlu6NeOHk=',
    encr_public_key: '',
    valid_from: '2026-01-01T00:00:00Z',
    valid_until: '2027-01-01T00:00:00Z',
  },
  meta: { catalog_index_urls: [{ url: 'https://bpp.example.org/index/catalogs.index.json' }] },
  network_memberships: ['nfh.global/beckn-nodes'],
  state: 'live' as const,
  version: '2',
  version_count: 2,
  ttl: 300,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
};

const identity = 'bpp.example.org/subscribers.beckn.one';

describe('a lookup answer', () => {
  const answer = { message: 'found', data: record };

  it('is read into a participant record', () => {
    expect(validator(LookupAnswer)(answer)).toBe(answer);
    expect(parseLookupAnswer(answer, identity)).toEqual({
      recordId: 'key-1',
      subscriberId: 'bpp.example.org',
      url: 'https://bpp.example.org/beckn',
      type: 'BPP',
      domain: 'energy',
      networkMemberships: ['nfh.global/beckn-nodes'],
      catalogIndexUrls: ['https://bpp.example.org/index/catalogs.index.json'],
      state: 'live',
      ttlSeconds: 300,
      signingPublicKey: 'awGPjRK6i/Vg/lWr+0xObclVxlwZXvTjWYtlu6NeOHk=',
      validFrom: '2026-01-01T00:00:00Z',
      validUntil: '2027-01-01T00:00:00Z',
    });
  });

  it.each([undefined, null, 'not found', [], {}, { data: null }, { data: { record_id: 'key-1' } }])(
    'without a record is no answer: %j',
    (garbage) => {
      expect(() => parseLookupAnswer(garbage, identity)).toThrow(
        expect.objectContaining({ code: 'NET_DOWNSTREAM_UNAVAILABLE' }),
      );
    },
  );
});

describe('a query answer', () => {
  it('leaves out records that cannot be read', () => {
    const answer = { message: 'found', data: { records: [null, { details: 7 }, record] } };
    const { records, unreadable } = parseQueryAnswer(answer);
    expect(records.map(({ recordId }) => recordId)).toEqual(['key-1']);
    expect(unreadable).toBe(2);
  });

  it('may hold summaries, each with the names that it can be looked up by', () => {
    const summary = { record_id: '76EU7', record_name: 'key-1', state: 'live' };
    const bare = { record_id: '76EU8', details: {} };
    const answer = { data: { records: [summary, bare, { details: null }, record] } };
    expect(parseQueryAnswer(answer)).toMatchObject({
      summaries: [['key-1', '76EU7'], ['76EU8']],
      records: [{ recordId: 'key-1' }],
      unreadable: 1,
    });
  });

  it.each([
    [{ total_pages: 4 }, 4],
    [{ total_pages: '4' }, 4],
    [{ total_records: 31, page_size: 10 }, 4],
    [{ total_pages: 'many' }, 1],
    [{}, 1],
  ])('says how many pages there are: %j', (data, pages) => {
    expect(parseQueryAnswer({ data: { ...data, records: [] } }).pages).toBe(pages);
  });

  it('may be empty', () => {
    expect(parseQueryAnswer({ data: { records: [] } }).records).toEqual([]);
  });

  it('without a list is no answer', () => {
    expect(() => parseQueryAnswer({ data: {} })).toThrow(
      expect.objectContaining({ code: 'NET_DOWNSTREAM_UNAVAILABLE' }),
    );
  });
});

// self-hosted spec: Subscriber record pointer
describe('the flat record of the specification', () => {
  const url = 'https://bpp.example.org/index/catalogs.index.json';
  const flat = {
    subscriber_id: 'bpp.example.org',
    type: 'BPP',
    url: 'https://bpp.example.org/beckn',
    signing_public_key: record.details.signing_public_key,
    meta: { catalog_index_urls: [{ url }] },
  };
  const now = new Date('2026-06-01T00:00:00Z');

  it('is read as the data of a lookup: live, with its key, address and indexes', () => {
    const read = parseLookupAnswer({ data: flat }, identity);
    expect(read).toMatchObject({
      ...{ subscriberId: 'bpp.example.org', type: 'BPP', url: flat.url, catalogIndexUrls: [url] },
      ...{ state: 'live', signingPublicKey: flat.signing_public_key },
    });
    expect(read && unusableReason(read, now)).toBeUndefined();
  });

  it('is read as a row of a query, with and without a name', () => {
    const { records, summaries } = parseQueryAnswer({ data: [flat, { ...flat, record_name: 'key-1' }] });
    expect(records.map(({ recordId }) => recordId)).toEqual(['', 'key-1']);
    expect(summaries).toEqual([]);
  });

  it('counts only under its own name', () => {
    expect(parseLookupAnswer({ data: flat }, 'other.example.org/subscribers.beckn.one')).toBeUndefined();
    expect(parseLookupAnswer({ data: flat }, 'example.org/subscribers.beckn.one')).toBeUndefined();
    const named = { ...flat, subscriber_id: identity };
    expect(parseLookupAnswer({ data: named }, identity)?.subscriberId).toBe(identity);
  });

  it('is in the state and the dates that it has', () => {
    for (const members of [{ state: 'revoked' }, { state: 'unheard-of' }, { valid_until: '2026-01-01' }]) {
      const read = parseLookupAnswer({ data: { ...flat, ...members } }, identity);
      expect(read && unusableReason(read, now)).toBeTypeOf('string');
    }
  });
});

describe('catalog index addresses', () => {
  const url = 'https://bpp.example.org/a.json';

  it.each([
    ['as objects', { meta: { catalog_index_urls: [{ url }] } }],
    ['as texts', { meta: { catalog_index_urls: [url] } }],
    ['as JSON text', { meta: { catalog_index_urls: JSON.stringify([{ url }]) } }],
    ['in meta as JSON text', { meta: JSON.stringify({ catalog_index_urls: [{ url }] }) }],
    ['under details', { meta: {}, details: { ...record.details, catalog_index_urls: [{ url }] } }],
    [
      'under details as JSON text',
      { meta: null, details: { ...record.details, catalog_index_urls: `[{"url":"${url}"}]` } },
    ],
    ['twice', { meta: { catalog_index_urls: [{ url }, { url }] } }],
  ])('are read %s', (_how, shape) => {
    expect(findParticipantRecord({ ...record, ...shape })?.catalogIndexUrls).toEqual([url]);
  });

  it.each([undefined, null, 'no JSON', '"text"', 7, {}, [null, {}, { url: 7 }]])(
    'are none in %j',
    (listed) => {
      expect(
        findParticipantRecord({ ...record, meta: { catalog_index_urls: listed } })?.catalogIndexUrls,
      ).toEqual([]);
    },
  );
});

describe('a key', () => {
  const now = new Date('2026-06-01T00:00:00Z');
  const reason = (changes: object, details: object = {}) => {
    const read = findParticipantRecord({ ...record, details: { ...record.details, ...details }, ...changes });
    return read && unusableReason(read, now);
  };

  it('in state live and within its dates is usable', () => {
    expect(reason({})).toBeUndefined();
    expect(reason({ state: 'LIVE' })).toBeUndefined();
    expect(reason({}, { valid_from: undefined, valid_until: undefined })).toBeUndefined();
  });

  it.each(['draft', 'suspended', 'revoked', 'expired', 'unheard-of', undefined, 7])(
    'in state %s is not',
    (state) => {
      expect(reason({ state })).toMatch(/^the key is in state /);
    },
  );

  it('of a registry that is not active is not usable, whatever its own state', () => {
    const lookedUp = (registry_state: unknown) => {
      const read = parseLookupAnswer({ data: { ...record, registry_state } }, identity);
      return read && unusableReason(read, now);
    };
    const listed = (data: object) =>
      parseQueryAnswer({ data: { ...data, records: [record] } }).records.map((each) =>
        unusableReason(each, now),
      );
    for (const state of ['live', 'Active', undefined, null]) {
      expect(lookedUp(state)).toBeUndefined();
      expect(listed({ registry_state: state })).toEqual([undefined]);
    }
    for (const state of ['inactive', 'suspended', 'revoked', 'archived']) {
      expect(lookedUp(state)).toBe(`its registry is in state ${state}`);
      expect(listed({ registry_state: state })).toEqual([`its registry is in state ${state}`]);
      expect(listed({ state })).toEqual([`its registry is in state ${state}`]);
    }
  });

  it('outside its dates, or with dates that cannot be read, is not', () => {
    expect(reason({}, { valid_from: '2026-06-01T00:00:01Z' })).toMatch(/not valid before/);
    expect(reason({}, { valid_until: '2026-05-31T23:59:59Z' })).toMatch(/not valid after/);
    for (const unreadable of ['soon', '12', 4_102_444_800, {}])
      expect(reason({}, { valid_until: unreadable })).toMatch(/not valid after/);
    expect(reason({}, { valid_from: null, valid_until: '' })).toBeUndefined();
  });

  it('is kept no longer than a readable ttl says', () => {
    expect(findParticipantRecord({ ...record, ttl: '60' })?.ttlSeconds).toBe(60);
    expect(findParticipantRecord({ ...record, ttl: -1 })?.ttlSeconds).toBeUndefined();
    expect(findParticipantRecord({ ...record, ttl: 'long' })?.ttlSeconds).toBeUndefined();
  });
});
