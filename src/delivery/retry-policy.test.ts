import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  judgeAnswer,
  maxRetryAfterMs,
  maxRetryDelayMs,
  nextAttemptMs,
  parseRetryAfter,
} from './retry-policy.ts';

const now = new Date('2026-01-01T00:00:00Z');
const leftMs = 86_400_000;

describe('an answer', () => {
  it.each([200, 201, 202, 204])('of %i is a delivery', (status) => {
    expect(judgeAnswer({ status, acknowledgement: 'ACK' }).kind).toBe('delivered');
  });

  it('of 200 with NACK is a refusal and says why', () => {
    expect(judgeAnswer({ status: 200, acknowledgement: 'NACK', error: 'CTX_INVALID_FIELD bad' })).toEqual({
      kind: 'refused',
      status: 200,
      reason: 'the receiver answered 200: CTX_INVALID_FIELD bad',
    });
  });

  it('of 400 is a refusal', () => {
    expect(judgeAnswer({ status: 400 }).kind).toBe('refused');
  });

  it('with a code SCH_… is a refusal for the schema, and says where', () => {
    const path = '$.message.catalogs[1]';
    for (const refused of [{ status: 400 }, { status: 200, acknowledgement: 'NACK' }])
      expect(judgeAnswer({ ...refused, code: 'SCH_FIELD_NOT_ALLOWED', path })).toMatchObject({
        kind: 'refused',
        schema: { path },
      });
    expect(judgeAnswer({ status: 400, code: 'CTX_INVALID_FIELD', path })).not.toHaveProperty('schema');
    expect(judgeAnswer({ status: 500, code: 'SCH_INVALID_FORMAT', path }).kind).toBe('retry');
  });

  it.each([301, 401, 403, 404, 408, 429, 500, 502, 503])('of %i is tried again', (status) => {
    expect(judgeAnswer({ status, retryAfterMs: 7 })).toMatchObject({ kind: 'retry', retryAfterMs: 7 });
  });
});

describe('the next attempt', () => {
  const attempt = fc.record({
    attempts: fc.integer({ min: 1, max: 10_000 }),
    random: fc.double({ min: 0, max: 1, noNaN: true }),
  });

  it('lies within half and the whole of an exponential delay that ends at five minutes', () => {
    fc.assert(
      fc.property(attempt, ({ attempts, random }) => {
        const delay = nextAttemptMs({ baseMs: 1000 }, { attempts, random, leftMs });
        const ceiling = Math.min(1000 * 2 ** (attempts - 1), maxRetryDelayMs);
        expect(delay).toBeGreaterThanOrEqual(Math.floor(ceiling / 2));
        expect(delay).toBeLessThanOrEqual(ceiling);
      }),
    );
  });

  it('respects Retry-After, up to an hour', () => {
    const wait = (retryAfterMs: number) =>
      nextAttemptMs({ baseMs: 1 }, { attempts: 1, leftMs, random: 0, retryAfterMs });
    expect(wait(60_000)).toBe(60_000);
    expect(wait(86_000_000)).toBe(maxRetryAfterMs);
  });

  it('is never after the time to give up', () => {
    expect(nextAttemptMs({ baseMs: 1000 }, { attempts: 1, leftMs: 0, random: 0 })).toBeUndefined();
  });
});

describe('Retry-After', () => {
  it('is read as seconds or as a date, and ignored when it is neither', () => {
    expect(parseRetryAfter('3', now)).toBe(3000);
    expect(parseRetryAfter('Thu, 01 Jan 2026 00:00:10 GMT', now)).toBe(10_000);
    expect(parseRetryAfter('soon', now)).toBeUndefined();
    expect(parseRetryAfter(undefined, now)).toBeUndefined();
  });
});
