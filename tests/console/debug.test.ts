import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import { publicKeyOf } from '../../src/protocol/keys.ts';
import { parseSignatureHeader, signRequest } from '../../src/protocol/request-signature.ts';
import { requireSigningKey } from '../../src/registry/key-files.ts';
import { catalog, plain } from '../support/catalogs/sample-catalogs.ts';
import type { Actor, Body } from '../support/network/actor.ts';
import { startConsole, type TestConsole } from '../support/network/console.ts';
import { until } from '../support/time.ts';

// Debug: signatures of registered participants with real keys, and callbacks of the real services to the inbox.

let the: TestConsole;
let provider: Actor;
beforeAll(async () => {
  the = await startConsole();
  provider = await the.network.actor('debugged', { url: null });
});
afterAll(() => the?.network.close());

const keyOf = (role: 'publisher' | 'consumer') => {
  const { config } = the.network;
  return requireSigningKey(config.DATA_DIR, config.identities[role]);
};
const debug = async (body: object) => (await the.ask('/api/debug/signature', { body })).body;
const text = '{"context":{"action":"discover"},"message":{}}';

describe('POST /api/debug/signature', () => {
  it('finds the key in the registry and verifies with it', async () => {
    const key = keyOf('publisher');
    const header = signRequest(key, Buffer.from(text), { now: new Date() });
    expect(await debug({ header, body: text })).toMatchObject({
      ...{ verdict: 'holds', hints: [] },
      key: { recordId: key.recordId, publicKey: publicKeyOf(key.privateKey), state: 'usable' },
    });
  });

  it('says at which step a body with one wrong byte differs', async () => {
    const header = signRequest(keyOf('publisher'), Buffer.from(text), { now: new Date() });
    const found = await debug({ header: `Authorization: ${header}`, body: text.replace('d', 'D') });
    expect(found.verdict).toBe('differs');
    const failed = found.steps.filter(({ ok }: Body) => !ok);
    expect(failed.map(({ step }: Body) => step)).toEqual(['signature']);
    expect(found.differs).toBe(failed[0].detail);
    expect(found.signingString).toContain(`digest: ${found.digest.got}`);
  });

  it('says that a body was written again', async () => {
    const header = signRequest(keyOf('publisher'), Buffer.from(text), { now: new Date() });
    const found = await debug({ header, body: JSON.stringify(JSON.parse(text), null, 2) });
    expect(found.differs).toContain('it was written again with indentation');
  });

  it('says whose key was used instead of the named one', async () => {
    const consumer = keyOf('consumer');
    const key = { ...keyOf('publisher'), privateKey: consumer.privateKey };
    const header = signRequest(key, Buffer.from(text), { now: new Date() });
    const { differs } = await debug({ header, body: text });
    expect(differs).toContain(`the key ${consumer.recordId} of ${consumer.subscriberId}`);
  });

  it('says that the registry does not know a signer, and that a header cannot be read', async () => {
    const key = { ...keyOf('publisher'), subscriberId: 'nobody.example.org' };
    const header = signRequest(key, Buffer.from(text), { now: new Date() });
    expect((await debug({ header, body: text })).differs).toContain('does not know nobody.example.org');
    expect(await debug({ header: 'Bearer x', body: '' })).toMatchObject({ verdict: 'unreadable' });
  });

  it('refuses a body of more than 1 MiB', async () => {
    const header = signRequest(keyOf('publisher'), Buffer.from(text), { now: new Date() });
    const ask = (body: string) => the.ask('/api/debug/signature', { body: { header, body } });
    expect((await ask('"'.repeat(1024 * 1024))).status).toBe(200);
    expect((await ask('x'.repeat(1024 * 1024 + 1))).status).toBe(400);
    expect((await ask('x'.repeat(3 * 1024 * 1024))).status).toBe(413);
  });

  it('judges by the time that it is given', async () => {
    const header = signRequest(keyOf('publisher'), Buffer.from(text), {
      now: new Date('2026-01-01T00:00:00Z'),
    });
    expect((await debug({ header, body: text })).differs).toBe('The signature has expired.');
    expect((await debug({ header, body: text, now: '2026-01-01T00:01:00Z' })).verdict).toBe('holds');
  });
});

describe('the inbox', () => {
  const inbox = async (): Promise<Body[]> => (await the.ask('/api/inbox')).body.items;

  it('takes and verifies a callback that a service sends', async () => {
    const bppUri = `${the.network.config.consoleUrl}/inbox`;
    const { messageId } = await provider.send(
      actions.publish,
      { catalogs: [catalog('boxed', { resources: [plain('b')] })] },
      { context: { bppUri } },
    );
    const item = await until(async () => (await inbox()).find((one) => one.messageId === messageId));
    expect(item).toMatchObject({
      ...{ path: '/inbox/catalog/on_publish', action: 'catalog/on_publish', verifies: true },
      from: expect.stringContaining('catalog.signpost.test'),
    });
    expect(JSON.parse(item.body)).toMatchObject({
      message: { results: [{ catalogId: 'boxed', status: 'ACCEPTED' }] },
    });
    const { rows } = await until(async () => {
      const found = await the.network.database.query<{ state: string }>(
        'select state from work.callback where message_id = $1',
        [messageId],
      );
      return found.rows[0]?.state !== 'open' && found;
    });
    expect(rows).toEqual([{ state: 'delivered' }]);
  });

  it('answers as the consumer, signed, and refuses what does not verify, but shows it', async () => {
    const url = `${the.network.config.consoleUrl}/inbox/on_discover`;
    const send = async (body: string, sent = body) => {
      const authorization = signRequest(keyOf('publisher'), Buffer.from(body), { now: new Date() });
      const headers = { authorization, 'content-type': 'application/json' };
      return fetch(url, { method: 'POST', headers, body: sent });
    };
    const body = JSON.stringify({ context: { action: 'on_discover', messageId: 'm1' }, message: {} });
    const good = await send(body);
    expect(good.status).toBe(200);
    expect(await good.json()).toEqual({ message: { status: 'ACK', messageId: 'm1' } });
    const { subscriberId, chained } = parseSignatureHeader(good.headers.get('signature') ?? '');
    expect([subscriberId, chained]).toEqual([the.network.config.identities.consumer.id, true]);
    expect((await send(body, body.replace('m1', 'm2'))).status).toBe(401);
    expect((await fetch(url, { method: 'POST', body: 'hello' })).status).toBe(401);
    const [plainText, wrong, first] = await inbox();
    expect(plainText).toMatchObject({
      body: 'hello',
      verifies: false,
      why: expect.stringContaining('Authorization'),
    });
    expect(wrong).toMatchObject({
      messageId: 'm2',
      verifies: false,
      why: expect.stringContaining('does not match'),
    });
    expect(first).toMatchObject({ messageId: 'm1', verifies: true });
    expect(first).not.toHaveProperty('why');
  });

  it('keeps of what does not verify 50 messages of 16 KiB, and every one that verifies', async () => {
    const url = `${the.network.config.consoleUrl}/inbox/x`;
    const send = (body: string, headers = {}) => fetch(url, { method: 'POST', body, headers });
    const large = JSON.stringify(Array(300_000).fill({}));
    const authorization = signRequest(keyOf('publisher'), Buffer.from(large), { now: new Date() });
    expect((await send(large, { authorization })).status).toBe(200);
    await Promise.all(Array.from({ length: 60 }, () => send('x')));
    expect((await send(large)).status).toBe(401);
    expect((await send('x'.repeat(1024 * 1024 + 1))).status).toBe(413);
    const items = await inbox();
    expect(items.filter(({ verifies }) => !verifies)).toHaveLength(50);
    expect(items[0]).toMatchObject({ verifies: false, body: large.slice(0, 16 * 1024) });
    expect(items.some(({ verifies, body }) => verifies && body === large)).toBe(true);
  });

  it('limits the rate of one address', async () => {
    const url = `${the.network.config.consoleUrl}/inbox/x`;
    // A few at a time, on open connections: three hundred at once take longer than the used-up rate takes to recover.
    const refused: Response[] = [];
    const sendUntilRefused = async () => {
      while (refused.length === 0) {
        const answer = await fetch(url, { method: 'POST', body: 'x' });
        if (answer.status === 429) refused.push(answer);
        else await answer.body?.cancel();
      }
    };
    await Promise.all(Array.from({ length: 8 }, sendUntilRefused));
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await refused[0]?.json()).toMatchObject({
      message: { status: 'NACK', error: { code: 'AUT_RATE_LIMITED' } },
    });
  });

  it('is emptied by the operator alone', async () => {
    const { consoleUrl } = the.network.config;
    expect((await fetch(`${consoleUrl}/api/inbox`, { method: 'DELETE' })).status).toBe(401);
    expect((await the.ask('/api/inbox', { method: 'DELETE' })).status).toBe(204);
    expect(await inbox()).toEqual([]);
  });
});
