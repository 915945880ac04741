import { describe, expect, it } from 'vitest';
import { bodyDigest } from '../protocol/digest.ts';
import { renderPush } from './render-push.ts';

const self = { self: { subscriberId: 'catalog.example' }, url: 'https://catalog.example' } as Parameters<
  typeof renderPush
>[0];
const basis = { catalogId: 'c-1', type: 'REGULAR', timestamp: new Date(0) } as Parameters<
  typeof renderPush
>[1];
const catalog = Buffer.from('{"id":"c-1","resources":[{"id":"r-1"}]}');

describe('the body of a push', () => {
  it('has the digest of its bytes, also where another one with the same catalog was rendered before', () => {
    const plans = [['a.example/n'], ['a.example/n'], ['b.example/ü'], ['a.example/n']].map((visibleTo) => ({
      kind: 'full' as const,
      visibleTo,
    }));
    const bodies = plans.map((plan) => renderPush(self, basis, plan, catalog));
    for (const { pieces, bytes, digest } of bodies) {
      const whole = Buffer.concat(pieces);
      expect(digest).toBe(bodyDigest(whole));
      expect(bytes).toBe(whole.length);
    }
    expect(new Set(bodies.map(({ digest }) => digest)).size).toBe(bodies.length);
  });

  it('is JSON with context and message', () => {
    const plan = { kind: 'merge' as const, changedAfter: 1, visibleTo: ['a.example/n'] };
    const { pieces } = renderPush(self, basis, plan, catalog);
    expect(JSON.parse(Buffer.concat(pieces).toString())).toMatchObject({
      context: { action: 'catalog/push', bppId: 'catalog.example', timestamp: '1970-01-01T00:00:00.000Z' },
      message: {
        publishDirectives: [{ catalogId: 'c-1', updateMode: 'MERGE', visibleTo: ['a.example/n'] }],
        catalogs: [{ id: 'c-1', resources: [{ id: 'r-1' }] }],
      },
    });
  });
});
