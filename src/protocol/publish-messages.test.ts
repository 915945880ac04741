import { describe, expect, it } from 'vitest';
import {
  sampleContext,
  sampleNow,
  samplePublishMessage,
} from '../../tests/support/catalogs/sample-messages.ts';
import { changed, without } from '../../tests/support/values/changed.ts';
import { actions } from './actions.ts';
import { parseEnvelope } from './envelope.ts';
import type { Segments } from './fault.ts';
import { jsonPath } from './json.ts';

const sample = samplePublishMessage();
const directive = sample.publishDirectives[0];
const resourceDirective = directive?.resourceDirectives[0];
const catalog = sample.catalogs[0];

const publish = (message: unknown) =>
  parseEnvelope({ context: sampleContext(actions.publish), message }, actions.publish, sampleNow);

const publishing = (at: Segments, value: unknown) => () => publish(changed(sample, at, value));

const fault = (code: string, at: Segments) =>
  expect.objectContaining({ code, path: jsonPath(['message', ...at]) });

// Paths of values in the sample.
const aDirective = ['publishDirectives', 0];
const aResourceDirective = [...aDirective, 'resourceDirectives', 0];
const aCatalog = ['catalogs', 0];
const aResource = [...aCatalog, 'resources', 0];
const anOffer = [...aCatalog, 'offers', 0];
const aConsideration = [...anOffer, 'considerations', 0];
const aProvider = [...aCatalog, 'provider'];
const aLocation = [...aProvider, 'availableAt', 0];

describe('a publish message', () => {
  it('with every known member is accepted as it is', () => {
    expect(publish(sample).message).toBe(sample);
  });

  it('needs no directives', () => {
    expect(publishing(['publishDirectives'], undefined)).not.toThrow();
  });

  it('may bring an offer-only catalog', () => {
    expect(() => publish({ catalogs: [without(catalog, ['resources'])] })).not.toThrow();
  });

  it('may bring a catalog whose only list is empty, to change its other members', () => {
    expect(() => publish({ catalogs: [without({ ...catalog, resources: [] }, ['offers'])] })).not.toThrow();
  });

  it('may be a push as well', () => {
    const body = { context: sampleContext(actions.push), message: sample };
    expect(parseEnvelope(body, actions.push, sampleNow)).toEqual(body);
  });
});

describe('refused at once, with the path of the member that is missing', () => {
  it.each<[string, Segments]>([
    ['catalogs', ['catalogs']],
    ['id of a catalog', [...aCatalog, 'id']],
    ['descriptor of a catalog', [...aCatalog, 'descriptor']],
    ['provider of a catalog', [...aCatalog, 'provider']],
    ['name of a provider', [...aProvider, 'descriptor', 'name']],
    ['catalogType of a directive', [...aDirective, 'catalogType']],
    ['extends of a resource directive', [...aResourceDirective, 'extends']],
    ['type of a variant', [...aResourceDirective, 'variant', 'type']],
    ['id of a variant', [...aResourceDirective, 'variant', 'id']],
    ['@context of resourceAttributes', [...aResource, 'resourceAttributes', '@context']],
    ['@type of resourceAttributes', [...aResource, 'resourceAttributes', '@type']],
    ['@context of offerAttributes', [...anOffer, 'offerAttributes', '@context']],
    ['@type of offerAttributes', [...anOffer, 'offerAttributes', '@type']],
    ['@context of considerationAttributes', [...aConsideration, 'considerationAttributes', '@context']],
    ['@type of considerationAttributes', [...aConsideration, 'considerationAttributes', '@type']],
    ['@context of providerAttributes that have a @type', [...aProvider, 'providerAttributes', '@context']],
    ['@type of providerAttributes that have a @context', [...aProvider, 'providerAttributes', '@type']],
  ])('SCH_REQUIRED_FIELD_MISSING: %s', (_what, at) => {
    expect(publishing(at, undefined)).toThrow(fault('SCH_REQUIRED_FIELD_MISSING', at));
  });

  it('SCH_REQUIRED_FIELD_MISSING: neither resources nor offers, with the path of the catalog', () => {
    const bare = without(without(catalog, ['resources']), ['offers']);
    expect(publishing(aCatalog, bare)).toThrow(fault('SCH_REQUIRED_FIELD_MISSING', aCatalog));
  });

  it('SCH_REQUIRED_FIELD_MISSING: of an empty catalog, its id first', () => {
    expect(publishing(aCatalog, {})).toThrow(fault('SCH_REQUIRED_FIELD_MISSING', [...aCatalog, 'id']));
  });
});

describe('refused at once, with the path of the bad value', () => {
  it.each<[string, string, Segments, unknown]>([
    ['SCH_INVALID_ENUM', 'an unknown catalogType', [...aDirective, 'catalogType'], 'SPECIAL'],
    ['SCH_INVALID_ENUM', 'an unknown updateMode', [...aDirective, 'updateMode'], 'merge'],
    ['SCH_INVALID_ENUM', 'an unknown geometry', [...aLocation, 'geo', 'type'], 'Circle'],
    ['SCH_INVALID_FORMAT', 'a bppUri that is no URI', [...aCatalog, 'bppUri'], 'bpp.example.org'],
    [
      'SCH_INVALID_FORMAT',
      'a @context that is no URI',
      [...aResource, 'resourceAttributes', '@context'],
      'EV',
    ],
    [
      'SCH_INVALID_FORMAT',
      'a @type of 129 characters',
      [...aResource, 'resourceAttributes', '@type'],
      'x'.repeat(129),
    ],
    [
      'SCH_INVALID_FORMAT',
      'a @context of more than 2,048 characters',
      [...aResource, 'resourceAttributes', '@context'],
      `https://schema.example.org/${'x'.repeat(2_048)}`,
    ],
    ['SCH_INVALID_FORMAT', 'an id of 513 characters', [...aCatalog, 'id'], 'x'.repeat(513)],
    ['SCH_INVALID_FORMAT', 'an empty id', [...aResource, 'id'], ''],
    ['SCH_INVALID_FORMAT', 'a validity that is no date', [...aCatalog, 'validity', 'endDate'], 'soon'],
    ['SCH_INVALID_FORMAT', 'a time that is none', [...anOffer, 'validity', 'startTime'], '25:00'],
    ['SCH_SCHEMA_VALIDATION_FAILED', 'catalogs that are empty', ['catalogs'], []],
    ['SCH_SCHEMA_VALIDATION_FAILED', 'visibleTo that is empty', [...aDirective, 'visibleTo'], []],
    ['SCH_SCHEMA_VALIDATION_FAILED', 'a catalogType that is no text', [...aDirective, 'catalogType'], 1],
    ['SCH_SCHEMA_VALIDATION_FAILED', 'isActive as text', [...aCatalog, 'isActive'], 'true'],
    ['SCH_SCHEMA_VALIDATION_FAILED', 'resources that are null', [...aCatalog, 'resources'], null],
    [
      'SCH_SCHEMA_VALIDATION_FAILED',
      'a provider of an offer as text',
      [...anOffer, 'provider'],
      'provider-1',
    ],
    ['SCH_SCHEMA_VALIDATION_FAILED', 'a far latitude', [...aLocation, 'geo', 'coordinates', 1], 91],
    ['SCH_SCHEMA_VALIDATION_FAILED', 'no such catalog', [...aDirective, 'catalogId'], 'catalog-9'],
    ['SCH_SCHEMA_VALIDATION_FAILED', 'no such resource', [...aResourceDirective, 'resourceId'], 'resource-9'],
  ])('%s: %s', (code, _what, at, value) => {
    expect(publishing(at, value)).toThrow(fault(code, at));
  });

  it.each<[string, Segments, unknown, Segments]>([
    [
      'two directives for one catalog',
      ['publishDirectives', 1],
      directive,
      ['publishDirectives', 1, 'catalogId'],
    ],
    ['a repeated catalog id', ['catalogs', 1], catalog, ['catalogs', 1, 'id']],
    [
      'a repeated resource id',
      [...aCatalog, 'resources', 2],
      { id: 'resource-1' },
      [...aCatalog, 'resources', 2, 'id'],
    ],
    ['a repeated offer id', [...aCatalog, 'offers', 1], { id: 'offer-1' }, [...aCatalog, 'offers', 1, 'id']],
    [
      'resourceDirectives on a MASTER',
      [...aDirective, 'catalogType'],
      'MASTER',
      [...aDirective, 'resourceDirectives'],
    ],
    [
      'a repeated masterResourceId, variant.type and variant.id',
      [...aDirective, 'resourceDirectives', 1],
      { ...resourceDirective, resourceId: 'resource-2' },
      [...aDirective, 'resourceDirectives', 1, 'variant'],
    ],
  ])('SCH_SCHEMA_VALIDATION_FAILED: %s', (_what, at, value, culprit) => {
    expect(publishing(at, value)).toThrow(fault('SCH_SCHEMA_VALIDATION_FAILED', culprit));
  });

  it('says in words what is wrong, and where', () => {
    const words = (at: Segments, value: unknown) => expect(publishing(at, value));
    words([...aCatalog, 'id'], undefined).toThrow('message.catalogs[0].id is missing');
    words([...aCatalog, 'x'], 1).toThrow('message.catalogs[0].x is not allowed here');
    words([...aCatalog, 'descriptor'], []).toThrow(
      'message.catalogs[0].descriptor must be an object, not an array',
    );
    words(aCatalog, { ...catalog, id: '' }).toThrow('message.catalogs[0].id must not be empty');
    words([...aDirective, 'catalogType'], 'X').toThrow(
      'message.publishDirectives[0].catalogType must be one of MASTER, REGULAR',
    );
    words([...aDirective, 'catalogId'], 'X').toThrow(
      'message.publishDirectives[0].catalogId names no catalog of this request',
    );
  });
});

describe('not refused at once', () => {
  it.each<[string, Segments, unknown]>([
    ['the same ids in two catalogs', ['catalogs', 1], { ...catalog, id: 'catalog-2' }],
    ['a MASTER with offers', aDirective, { catalogId: 'catalog-1', catalogType: 'MASTER' }],
    ['providerAttributes that name no schema', [...aProvider, 'providerAttributes'], { since: 1999 }],
    [
      'add-ons of any kind',
      [...anOffer, 'addOns'],
      [{}, { name: 'Cable', descriptor: 'red', offerAttributes: 1 }],
    ],
    ['an unknown master resource', [...aResourceDirective, 'extends', 'masterResourceId'], 'nobody-knows'],
    [
      'another variant of the same master resource',
      [...aDirective, 'resourceDirectives', 1],
      { ...resourceDirective, resourceId: 'resource-2', variant: { type: 'geo', id: 'pune' } },
    ],
    [
      'two resources that extend one master without a variant',
      [...aDirective, 'resourceDirectives'],
      ['resource-1', 'resource-2'].map((resourceId) => ({ resourceId, extends: resourceDirective?.extends })),
    ],
  ])('%s', (_what, at, value) => {
    expect(publishing(at, value)).not.toThrow();
  });
});

describe('an unknown member', () => {
  it.each<[string, Segments]>([
    ['message', []],
    ['directive', aDirective],
    ['resource directive', aResourceDirective],
    ['extends', [...aResourceDirective, 'extends']],
    ['catalog', aCatalog],
  ])('of %s is SCH_FIELD_NOT_ALLOWED', (_what, at) => {
    expect(publishing([...at, 'surprise'], 1)).toThrow(fault('SCH_FIELD_NOT_ALLOWED', [...at, 'surprise']));
  });

  it.each<[string, Segments]>([
    ['variant', [...aResourceDirective, 'variant']],
    ['resource', aResource],
    ['resourceAttributes', [...aResource, 'resourceAttributes']],
    ['offer', anOffer],
    ['offerAttributes', [...anOffer, 'offerAttributes']],
    ['consideration', aConsideration],
    ['considerationAttributes', [...aConsideration, 'considerationAttributes']],
    ['add-on', [...anOffer, 'addOns', 0]],
    ['time period', [...anOffer, 'validity']],
    ['provider', aProvider],
    ['providerAttributes', [...aProvider, 'providerAttributes']],
    ['descriptor', [...aCatalog, 'descriptor']],
    ['location', aLocation],
    ['address', [...aLocation, 'address']],
  ])('of %s is kept', (_what, at) => {
    expect(publishing([...at, 'surprise'], 1)).not.toThrow();
  });
});
