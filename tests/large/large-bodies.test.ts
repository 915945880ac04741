import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createCostLimits } from '../../src/http/cost-limits.ts';
import { createLargeBodies, largeBodyBytes } from '../../src/http/large-bodies.ts';
import { silentLogger } from '../../src/logger.ts';
import { actions } from '../../src/protocol/actions.ts';
import { parseEnvelope } from '../../src/protocol/envelope.ts';
import { bodyOf, closeAll, provider, start } from '../support/network/signed-actions.ts';
import { sendSigned } from '../support/network/signed-service.ts';
import { expectNobodyHeldUp, mainThreadCost, rounds } from '../support/processes/blocked.ts';

const largeBodies = createLargeBodies(silentLogger());
afterEach(closeAll);
afterAll(() => largeBodies.close());

describe('a large body', () => {
  it('is read to the same envelope as a small one', async () => {
    const body = publishOf(500);
    expect(body.length).toBeGreaterThan(largeBodyBytes);
    const read = await largeBodies.read(body, { action: actions.publish, now: new Date(), owner: 'a' });
    const { context, message } = parseEnvelope(body, actions.publish, new Date());
    expect(read.envelope()).toEqual({ context, message });
    expect(read.messageId).toBe(context.messageId);
    expect(read.spentMs).toBeGreaterThan(0);
  });

  it('of the largest size with very many members blocks the event loop for a small part of the time that reading it takes', async () => {
    const body = publishOf(16_000);
    expect(body.length).toBeGreaterThan(4_500_000);
    expect(body.length).toBeLessThanOrEqual(5_242_880);
    const [aside, inPlace]: [number[], number[]] = [[], []];
    for (let run = 0; run < rounds; run++) {
      const options = { action: actions.publish, now: new Date(), owner: 'a' };
      aside.push((await mainThreadCost(() => largeBodies.read(body, options))).longestMs);
      const parse = async () => parseEnvelope(body, actions.publish, new Date());
      inPlace.push((await mainThreadCost(parse)).longestMs);
    }
    expectNobodyHeldUp(aside, inPlace);
  }, 300_000);

  it('is refused with the same code, path and messageId as a small one', async () => {
    const faulty = publishOf(500, { isActive: 'yes' });
    const { url } = await start(actions.publish, { largeBodies });
    const answer = await sendSigned(`${url}/catalog/publish`, { from: provider, body: faulty });
    expect(answer.status).toBe(400);
    const { message } = answer.json;
    expect(message?.error).toMatchObject({
      code: 'SCH_SCHEMA_VALIDATION_FAILED',
      details: { path: '$.message.catalogs[0].isActive' },
    });
    expect(message?.messageId).toBe(JSON.parse(faulty.toString()).context.messageId);
  });

  it('that is no JSON is SCH_INVALID_JSON', async () => {
    const { url } = await start(actions.publish, { largeBodies });
    const body = publishOf(500).subarray(0, -1);
    const answer = await sendSigned(`${url}/catalog/publish`, { from: provider, body });
    expect(answer.json.message?.error?.code).toBe('SCH_INVALID_JSON');
  });
});

describe('what requests cost', () => {
  it('is charged to their identity: bytes beyond its share are AUT_RATE_LIMITED with Retry-After', async () => {
    const costs = createCostLimits({ TIME_LIMIT_MS_PER_SECOND: 0, BYTE_LIMIT_PER_SECOND: 1_000 });
    const { url } = await start(actions.publish, { largeBodies, costs });
    const publish = (body: Buffer) => sendSigned(`${url}/catalog/publish`, { from: provider, body });
    expect((await publish(publishOf(500))).status).toBe(200);
    const second = await publish(publishOf(1));
    expect(second.status).toBe(429);
    expect(second.json.message?.error?.code).toBe('AUT_RATE_LIMITED');
    expect(Number(second.headers['retry-after'])).toBeGreaterThan(1);
  });

  it('is charged for answers as well, an eighth of what may be sent', async () => {
    const costs = createCostLimits({ TIME_LIMIT_MS_PER_SECOND: 0, BYTE_LIMIT_PER_SECOND: 8_000 });
    costs.check('a');
    costs.spendAnswer('a', 5_000);
    expect(() => costs.check('a')).toThrow('Ask for pages');
    costs.check('b');
  });

  it('is charged in time of the main thread as well, and spares nobody', () => {
    const costs = createCostLimits({ TIME_LIMIT_MS_PER_SECOND: 10, BYTE_LIMIT_PER_SECOND: 0 });
    costs.check('a');
    costs.spendMs('a', 10_000);
    expect(() => costs.check('a')).toThrow('share of time');
    costs.check('b');
  });
});

function publishOf(resources: number, members: object = {}): Buffer {
  const catalog = {
    id: 'c',
    descriptor: { name: 'C' },
    provider: { id: 'p', descriptor: { name: 'P' } },
    ...members,
    resources: Array.from({ length: resources }, (_, index) => ({
      id: `r${index}`,
      descriptor: { name: `R${index}` },
      more: Object.fromEntries(Array.from({ length: 30 }, (_, member) => [`m${member}`, member])),
    })),
  };
  return Buffer.from(bodyOf(actions.publish, {}, { catalogs: [catalog] }));
}
