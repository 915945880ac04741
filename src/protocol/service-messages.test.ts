import { describe, expect, it } from 'vitest';
import { sampleContext, sampleNow } from '../../tests/support/catalogs/sample-messages.ts';
import { changed } from '../../tests/support/values/changed.ts';
import { actions } from './actions.ts';
import { parseEnvelope, parseQuery } from './envelope.ts';
import type { Segments } from './fault.ts';
import { jsonPath } from './json.ts';

type Posted = 'subscribe' | 'pull' | 'search' | 'onPublish' | 'onPull';
const sending = (name: Posted, message: unknown) => () =>
  parseEnvelope({ context: sampleContext(actions[name]), message }, actions[name], sampleNow).message;
const fault = (code: string, at: Segments) => expect.objectContaining({ code, path: jsonPath(at) });

const subscriptionId = '0b6b2f6e-5b86-4a43-8a3c-0b7a6a2c1f01';

describe('catalog/subscription', () => {
  it.each([
    [{ networkIds: ['a/b'] }],
    [{ schemaTypes: [] }],
    [{ networkIds: [], schemaTypes: ['https://s.example/x#T'] }],
  ])('takes networkIds, schemaTypes or both: %j', (subscription) => {
    expect(sending('subscribe', { subscription })()).toEqual({ subscription });
  });

  it.each<[string, Segments, unknown, Segments]>([
    ['SCH_REQUIRED_FIELD_MISSING', ['subscription'], undefined, ['subscription']],
    ['SCH_REQUIRED_FIELD_MISSING', ['subscription', 'networkIds'], undefined, ['subscription']],
    ['SCH_FIELD_NOT_ALLOWED', ['surprise'], 1, ['surprise']],
    ['SCH_FIELD_NOT_ALLOWED', ['subscription', 'status'], 'ACTIVE', ['subscription', 'status']],
    ['SCH_SCHEMA_VALIDATION_FAILED', ['subscription', 'networkIds'], 'a/b', ['subscription', 'networkIds']],
    ['SCH_SCHEMA_VALIDATION_FAILED', ['subscription', 'networkIds', 0], 7, ['subscription', 'networkIds', 0]],
    ['SCH_INVALID_FORMAT', ['subscription', 'networkIds', 0], '', ['subscription', 'networkIds', 0]],
  ])('%s at %j: %j', (code, at, value, culprit) => {
    const message = changed({ subscription: { networkIds: ['a/b'] } }, at, value);
    expect(sending('subscribe', message)).toThrow(fault(code, ['message', ...culprit]));
  });
});

describe('the query of catalog/subscription', () => {
  const list = (query: Record<string, unknown>) => parseQuery(actions.listSubscriptions.query, query);

  it('reads numbers from their text and ignores what it does not know', () => {
    const query = { status: 'ACTIVE', subscriptionId, limit: '5', offset: '10', page: '2' };
    expect(list(query)).toMatchObject({ status: 'ACTIVE', subscriptionId, limit: 5, offset: 10 });
    expect(list({})).toEqual({});
  });

  it('takes every offset that a body may have', () => {
    const offset = Number.MAX_SAFE_INTEGER;
    expect(list({ offset: String(offset) })).toEqual({ offset });
    expect(sending('search', { offset })).not.toThrow();
    expect(() => list({ offset: String(2 ** 53) })).toThrow(
      fault('SCH_SCHEMA_VALIDATION_FAILED', ['query', 'offset']),
    );
    expect(sending('search', { offset: 2 ** 53 })).toThrow(
      fault('SCH_SCHEMA_VALIDATION_FAILED', ['message', 'offset']),
    );
  });

  it.each([
    ['SCH_INVALID_ENUM', { status: 'active' }, 'status'],
    ['CTX_INVALID_FIELD', { subscriptionId: '7' }, 'subscriptionId'],
    ['CTX_INVALID_FIELD', { subscriptionId: '' }, 'subscriptionId'],
    ['CTX_INVALID_FIELD', { subscriptionId: `urn:uuid:${subscriptionId}` }, 'subscriptionId'],
    ['CTX_INVALID_FIELD', { subscriptionId: [subscriptionId, subscriptionId] }, 'subscriptionId'],
    ['SCH_SCHEMA_VALIDATION_FAILED', { limit: '0' }, 'limit'],
    ['SCH_SCHEMA_VALIDATION_FAILED', { limit: '101' }, 'limit'],
    ['SCH_SCHEMA_VALIDATION_FAILED', { limit: '1.5' }, 'limit'],
    ['SCH_SCHEMA_VALIDATION_FAILED', { limit: '1e1' }, 'limit'],
    ['SCH_SCHEMA_VALIDATION_FAILED', { limit: 'many' }, 'limit'],
    ['SCH_SCHEMA_VALIDATION_FAILED', { limit: ['1', '2'] }, 'limit'],
    ['SCH_SCHEMA_VALIDATION_FAILED', { offset: '-1' }, 'offset'],
    ['SCH_SCHEMA_VALIDATION_FAILED', { offset: '99999999999999999999' }, 'offset'],
    ['SCH_SCHEMA_VALIDATION_FAILED', { offset: '9'.repeat(400) }, 'offset'],
  ])('%s: %j', (code, query, name) => {
    expect(() => list(query)).toThrow(fault(code, ['query', name]));
  });

  it('of DELETE needs a subscriptionId: SCH_REQUIRED_FIELD_MISSING', () => {
    const unsubscribe = (query: Record<string, unknown>) => () =>
      parseQuery(actions.unsubscribe.query, query);
    expect(unsubscribe({})).toThrow(fault('SCH_REQUIRED_FIELD_MISSING', ['query', 'subscriptionId']));
    expect(unsubscribe({ subscriptionId: 'x' })).toThrow(
      fault('CTX_INVALID_FIELD', ['query', 'subscriptionId']),
    );
    expect(unsubscribe({ subscriptionId })()).toEqual({ subscriptionId });
  });
});

describe('catalog/pull', () => {
  const message = { subscriptionId, mode: 'FULL', limit: 20, offset: 0 };

  it('ignores fromDate and toDate, whatever they hold', () => {
    expect(sending('pull', { ...message, fromDate: 'some day', toDate: 7 })).not.toThrow();
  });

  it('in mode INCREMENTAL is NET_NOT_IMPLEMENTED', () => {
    expect(sending('pull', { ...message, mode: 'INCREMENTAL' })).toThrow(
      expect.objectContaining({ code: 'NET_NOT_IMPLEMENTED', status: 400, path: '$.message.mode' }),
    );
  });

  it.each<[string, Segments, unknown]>([
    ['SCH_REQUIRED_FIELD_MISSING', ['subscriptionId'], undefined],
    ['CTX_INVALID_FIELD', ['subscriptionId'], 'subscription-1'],
    ['CTX_INVALID_FIELD', ['subscriptionId'], 7],
    ['SCH_INVALID_ENUM', ['mode'], 'PARTIAL'],
    ['SCH_SCHEMA_VALIDATION_FAILED', ['limit'], 0],
    ['SCH_SCHEMA_VALIDATION_FAILED', ['limit'], 101],
    ['SCH_SCHEMA_VALIDATION_FAILED', ['limit'], '20'],
    ['SCH_SCHEMA_VALIDATION_FAILED', ['offset'], -1],
    ['SCH_SCHEMA_VALIDATION_FAILED', ['offset'], 0.5],
    ['SCH_SCHEMA_VALIDATION_FAILED', ['offset'], 1e300],
    ['SCH_FIELD_NOT_ALLOWED', ['surprise'], 1],
  ])('%s at %j: %j', (code, at, value) => {
    expect(sending('pull', changed(message, at, value))).toThrow(fault(code, ['message', ...at]));
  });
});

describe('catalog/on_pull', () => {
  const catalogs = [
    { id: 'c', descriptor: {}, provider: { id: 'p', descriptor: { name: 'P' } }, offers: [], surprise: 1 },
  ];
  const downloadManifest = {
    url: 'https://cs.example.org/downloads/1?sig=x',
    expiresAt: '2026-03-01T13:00:00Z',
    format: 'json.gz',
    sizeBytes: 10,
    checksum: `sha256:${'0f'.repeat(32)}`,
  };
  const error = { code: 'NET_CATALOG_SOURCE_UNAVAILABLE', message: 'cannot read' };
  const pagination = { total: 1, limit: 20, offset: 0 };

  it.each([
    [{ status: 'COMPLETED', catalogs, pagination }],
    [{ status: 'COMPLETED', downloadManifest, pagination, surprise: 1 }],
    [{ status: 'FAILED', error }],
    [{ status: 'FAILED', error: { ...error, code: 'NET_SOMETHING_NEW' } }],
  ])('is read: %j', (message) => {
    expect(sending('onPull', message)()).toBe(message);
  });

  it.each<[string, object, Segments]>([
    ['SCH_REQUIRED_FIELD_MISSING', { status: 'COMPLETED' }, []],
    [
      'SCH_SCHEMA_VALIDATION_FAILED',
      { status: 'COMPLETED', catalogs, downloadManifest },
      ['downloadManifest'],
    ],
    ['SCH_REQUIRED_FIELD_MISSING', { status: 'FAILED' }, ['error']],
    ['SCH_SCHEMA_VALIDATION_FAILED', { status: 'FAILED', error, catalogs }, ['catalogs']],
    ['SCH_SCHEMA_VALIDATION_FAILED', { status: 'FAILED', error, downloadManifest }, ['downloadManifest']],
    ['SCH_INVALID_ENUM', { status: 'DONE', catalogs }, ['status']],
    [
      'SCH_INVALID_FORMAT',
      { status: 'COMPLETED', downloadManifest: { ...downloadManifest, checksum: 'md5:00' } },
      ['downloadManifest', 'checksum'],
    ],
  ])('%s: %j', (code, message, at) => {
    expect(sending('onPull', message)).toThrow(fault(code, ['message', ...at]));
  });
});

describe('catalog/search', () => {
  it.each([
    [{}],
    [{ filters: {} }],
    [{ filters: { type: 'REGULAR', networkIds: [], schemaTypes: [] }, limit: 1, offset: 5 }],
  ])('takes filters that are all optional: %j', (message) => {
    expect(sending('search', message)()).toBe(message);
  });

  it.each<[string, object, Segments]>([
    ['SCH_INVALID_ENUM', { filters: { type: 'ANY' } }, ['filters', 'type']],
    ['SCH_FIELD_NOT_ALLOWED', { filters: { surprise: 1 } }, ['filters', 'surprise']],
    ['SCH_FIELD_NOT_ALLOWED', { surprise: 1 }, ['surprise']],
    ['SCH_SCHEMA_VALIDATION_FAILED', { filters: { networkIds: 'a/b' } }, ['filters', 'networkIds']],
    ['SCH_SCHEMA_VALIDATION_FAILED', { limit: 101 }, ['limit']],
  ])('%s: %j', (code, message, at) => {
    expect(sending('search', message)).toThrow(fault(code, ['message', ...at]));
  });
});

describe('catalog/on_publish', () => {
  it('is open everywhere', () => {
    const message = {
      results: [
        {
          catalogId: 'c',
          status: 'PARTIAL',
          stats: { itemCount: 1 },
          errors: [{ code: 'X', message: 'y', z: 1 }],
          extra: 1,
        },
      ],
      extra: 1,
    };
    expect(sending('onPublish', message)()).toBe(message);
  });
});
