import { describe, expect, it } from 'vitest';
import { faultAt } from './fault.ts';

describe('a fault', () => {
  it('names the value and its JSONPath', () => {
    expect(faultAt('SCH_INVALID_ENUM', ['message', 'a', 0, '@type'], 'is wrong')).toMatchObject({
      code: 'SCH_INVALID_ENUM',
      message: "message.a[0]['@type'] is wrong",
      path: "$.message.a[0]['@type']",
    });
    expect(faultAt('SCH_INVALID_JSON', [], 'is wrong')).toMatchObject({
      message: 'the body is wrong',
      path: '$',
    });
  });

  it('does not repeat a name as long as a body', () => {
    const fault = faultAt('SCH_FIELD_NOT_ALLOWED', ['message', "'".repeat(1_000_000), 'x'], 'is not allowed');
    expect(fault.path).toBe('$.message');
    expect(fault.message.length).toBeLessThan(200);
    const name = 'x'.repeat(512);
    expect(faultAt('SCH_FIELD_NOT_ALLOWED', [name], 'is not allowed').path).toBe(`$.${name}`);
  });
});
