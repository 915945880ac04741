import { afterAll, describe, expect, it } from 'vitest';
import { createStrictRenderer } from '../delivery/strict-renderer.ts';
import { silentLogger } from '../logger.ts';
import { bodyDigest } from '../protocol/digest.ts';
import { createPushRenderer, type RenderPush } from './render-push.ts';

const self = {
  self: { subscriberId: 'catalog.example' },
  hosting: { url: 'https://catalog.example' },
} as Parameters<typeof createPushRenderer>[0];
const push = {
  subscriber: 'ds.example',
  basis: { catalogId: 'c-1', type: 'REGULAR', timestamp: new Date(0) },
} as Parameters<RenderPush>[0];
const catalog = Buffer.from('{"id":"c-1","resources":[{"id":"r-1","descriptor":{"short_desc":"?"}}]}');
const plan = { kind: 'merge' as const, changedAfter: 1, visibleTo: ['a.example/n'] };

describe('the body of a push', () => {
  const strict = createStrictRenderer(silentLogger());
  const renderPush = createPushRenderer(self, strict);
  afterAll(() => strict.close());

  it('has the digest of its bytes, also where another one with the same catalog was rendered before', async () => {
    const plans = [['a.example/n'], ['a.example/n'], ['b.example/ü'], ['a.example/n']].map((visibleTo) => ({
      kind: 'full' as const,
      visibleTo,
    }));
    const rendered = plans.map((plan) => renderPush(push, plan, catalog).render('full'));
    const bodies = await Promise.all(rendered);
    for (const { pieces, bytes, digest } of bodies) {
      const whole = Buffer.concat(pieces);
      expect(digest).toBe(bodyDigest(whole));
      expect(bytes).toBe(whole.length);
    }
    expect(new Set(bodies.map(({ digest }) => digest)).size).toBe(bodies.length);
  });

  it('is JSON with context and message', async () => {
    const { pieces } = await renderPush(push, plan, catalog).render('full');
    expect(JSON.parse(Buffer.concat(pieces).toString())).toMatchObject({
      context: { action: 'catalog/push', bppId: 'catalog.example', timestamp: '1970-01-01T00:00:00.000Z' },
      message: {
        publishDirectives: [{ catalogId: 'c-1', updateMode: 'MERGE', visibleTo: ['a.example/n'] }],
        catalogs: [{ id: 'c-1', resources: [{ id: 'r-1', descriptor: { short_desc: '?' } }] }],
      },
    });
  });

  it('has another catalog in strict form, rendered once for all, under the same messageId', async () => {
    const [one, other] = [renderPush(push, plan, catalog), renderPush(push, plan, catalog)];
    const [full, first] = [await one.render('full'), await one.render('strict')];
    const second = await other.render('strict');
    expect(first.pieces[1]?.toString()).toBe('{"id":"c-1","resources":[{"id":"r-1","descriptor":{}}]}');
    expect(second.pieces[1]).toBe(first.pieces[1]);
    expect(first).toMatchObject({ messageId: full.messageId, transactionId: full.transactionId });
    expect(first.digest).toBe(bodyDigest(Buffer.concat(first.pieces)));
  });

  it('is the same in strict form where that changes nothing', async () => {
    const plain = Buffer.from('{"id":"c-1","resources":[{"id":"r-1"}]}');
    const { render } = renderPush(push, plan, plain);
    expect((await render('strict')).digest).toBe((await render('full')).digest);
  });
});
