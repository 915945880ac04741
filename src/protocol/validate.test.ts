import { describe, expect, it } from 'vitest';
import { samplePublishMessage } from '../../tests/support/catalogs/sample-messages.ts';
import { Catalog } from './catalog.ts';
import { closed, oneOfTexts } from './shapes.ts';
import { Type } from './type.ts';
import { findFaults, validator } from './validate.ts';

describe('a validator', () => {
  const parse = validator(closed({ 'a/b~c': Type.Array(closed({ kind: oneOfTexts(['X', 'Y']) })) }));

  it('returns the value itself', () => {
    const value = { 'a/b~c': [{ kind: 'X' }] };
    expect(parse(value)).toBe(value);
  });

  it('points at the culprit from where the value stands', () => {
    expect(() => parse({ 'a/b~c': [{ kind: 'X' }, { kind: 'Z' }] }, ['message', 7])).toThrow(
      expect.objectContaining({
        code: 'SCH_INVALID_ENUM',
        path: "$.message[7]['a/b~c'][1].kind",
        message: "message[7]['a/b~c'][1].kind must be one of X, Y",
      }),
    );
  });

  it('calls a value without a name the body', () => {
    expect(() => parse(null)).toThrow('the body must be an object, not null');
  });

  it('does not mistake what objects inherit for members', () => {
    const strict = validator(closed({ id: Type.String() }));
    expect(() => strict(JSON.parse('{"id":"a","__proto__":{}}'))).toThrow(
      expect.objectContaining({ code: 'SCH_FIELD_NOT_ALLOWED', path: '$.__proto__' }),
    );
  });
});

describe('all faults of a value', () => {
  const faults = findFaults(Catalog);

  it('are none for a good one', () => {
    expect(samplePublishMessage().catalogs.flatMap((catalog) => faults(catalog))).toEqual([]);
  });

  it('are found at once, each of them once', () => {
    const found = faults({ descriptor: 7, provider: { id: '' }, surprise: 1 }, ['catalog']);
    expect(found.map(({ code, details }) => `${code} ${details?.path}`).sort()).toEqual([
      'SCH_FIELD_NOT_ALLOWED $.catalog.surprise',
      'SCH_INVALID_FORMAT $.catalog.provider.id',
      'SCH_REQUIRED_FIELD_MISSING $.catalog.id',
      'SCH_REQUIRED_FIELD_MISSING $.catalog.provider.descriptor',
      'SCH_SCHEMA_VALIDATION_FAILED $.catalog.descriptor',
    ]);
  });
});
