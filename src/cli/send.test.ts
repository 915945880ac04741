import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { publishFile, type SendScene, startSendScene } from '../../tests/support/network/send-scene.ts';
import { send } from '../../tests/support/network/signed-service.ts';
import { startPeerService } from '../../tests/support/peers/peer-services.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { parseSignatureHeader } from '../protocol/request-signature.ts';

let scene: SendScene;
beforeAll(async () => {
  scene = await startSendScene();
});
afterAll(() => scene.close());
beforeEach(() => scene.reset());

describe('signpost send', () => {
  it('sends a file as an identity, with ids, addresses and time of its own', async () => {
    const { exitCode, out } = await scene.publish();
    expect(exitCode).toBe(0);
    expect(out).toContain('200 ACK');
    expect(out).toContain("The answer's signature is valid: catalog.example.com, key-1.");
    expect(scene.received[0]).toMatchObject({
      identity: 'bpp.example.com/subscribers.beckn.one',
      context: {
        version: '2.0.0',
        action: 'catalog/publish',
        messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        transactionId: 'kept',
        ttl: 'PT1H',
        bppId: 'bpp.example.com',
        bppUri: 'https://bpp.example.com',
      },
      message: publishFile.message,
    });
  });

  it('sends another message each time', async () => {
    await scene.publish();
    await scene.publish();
    expect(scene.received[0]?.context.messageId).not.toBe(scene.received[1]?.context.messageId);
  });

  it('takes the action from the address, and a base or a whole address alike', async () => {
    const to = (url: string) => scene.run([scene.file, '--to', url, '--as', 'bpp.example.com']);
    expect(await to(`${scene.url}/catalog/publish`)).toMatchObject({ exitCode: 0 });
    expect(await to(`${scene.url}/catalog/publish/`)).toMatchObject({ exitCode: 0 });
    expect(await to(scene.url)).toMatchObject({ exitCode: 1, notes: expect.stringContaining('--action') });
  });

  it('ends with 1 on a NACK, and shows why', async () => {
    scene.onPublish = () => {
      throw new ProtocolError('BIZ_GENERIC_ERROR', 'not today');
    };
    const { exitCode, out } = await scene.publish();
    expect(exitCode).toBe(1);
    expect(out).toMatch(/400 NACK[\s\S]*BIZ_GENERIC_ERROR[\s\S]*signature is valid/);
  });

  it('sends the bytes as they are with --verbatim', async () => {
    const bytes = ` {"context" : ${JSON.stringify({ ...publishFile.context, action: 'catalog/publish' })}, "message":{}}\n`;
    writeFileSync(scene.file, bytes);
    const { exitCode, out } = await scene.publish('--verbatim', '--json');
    expect(exitCode).toBe(1);
    const { request, answer } = JSON.parse(out);
    expect(answer).toMatchObject({
      status: 400,
      body: { message: { error: { code: 'CTX_MISSING_FIELD' } } },
    });
    const again = await send(request.url, { headers: { authorization: request.authorization }, body: bytes });
    expect(again.json.message?.error?.code).toBe('CTX_MISSING_FIELD');
  });

  it('reads standard input', async () => {
    const args = ['-', '--to', `${scene.url}/catalog/publish`, '--as', 'bpp.example.com'];
    expect(await scene.run(args, JSON.stringify(publishFile))).toMatchObject({ exitCode: 0 });
  });

  it('sends GET without a body, and with its query', async () => {
    const to = `${scene.url}/catalog/subscription?status=ACTIVE`;
    const { exitCode, out } = await scene.run([
      '--method',
      'GET',
      '--to',
      to,
      '--as',
      'bpp.example.com',
      '--json',
    ]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(out).answer).toMatchObject({
      body: { query: { status: 'ACTIVE' } },
      signature: { holds: true },
    });
  });

  it('signs a GET once more by the clock of a server that answers 401 and whose clock differs, and says so', async () => {
    const peer = await startPeerService();
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    peer.answer = () =>
      peer.requests.length === 1 ? { status: 401, headers: { date }, body: {} } : { body: { done: true } };
    const to = `${peer.url}/catalog/subscription`;
    const { exitCode, out, notes } = await scene.run([
      '--method',
      'GET',
      '--to',
      to,
      '--as',
      'bpp.example.com',
      '--json',
    ]);
    peer.close();
    expect(exitCode).toBe(0);
    expect(notes).toMatch(/answered 401, and its clock is (3599|3600) s ahead of ours: signed again/);
    const { request, answer } = JSON.parse(out);
    expect(answer).toMatchObject({ status: 200, body: { done: true } });
    expect(parseSignatureHeader(request.authorization).created).toBe(Date.parse(date) / 1000);
  });

  it('tells when an answer is not signed', async () => {
    const { exitCode, out } = await scene.run([
      scene.file,
      '--verbatim',
      '--to',
      `${scene.url}/unsigned`,
      '--as',
      'bpp.example.com',
    ]);
    expect(exitCode).toBe(0);
    expect(out).toContain('The answer is not signed.');
  });

  it('says what to do when something is missing', async () => {
    const fails = async (args: string[], advice: string) =>
      expect(await scene.run(args)).toMatchObject({ exitCode: 1, notes: expect.stringContaining(advice) });
    const to = ['--to', `${scene.url}/catalog/publish`, '--as', 'bpp.example.com'];
    await fails(['no-such-file.json', ...to], 'There is no file no-such-file.json.');
    await fails(to, 'POST needs a file');
    writeFileSync(join(scene.directory, 'broken.json'), '{"context": ');
    await fails([join(scene.directory, 'broken.json'), ...to], 'not JSON');
    await fails(
      [scene.file, ...to.with(-1, 'stranger.example.com')],
      'signpost keys new --id stranger.example.com',
    );
    await fails([scene.file, ...to, '--key', 'no-such-key'], '32 bytes in Base64');
    await fails([scene.file, ...to, '--action', 'catalog/nothing'], 'There is no action catalog/nothing');
    await fails([scene.file, ...to, '--method', 'GET'], 'omit the file');
    const nobody = 'http://127.0.0.1:1/catalog/publish';
    await fails([scene.file, '--to', nobody, '--as', 'bpp.example.com'], 'npm start');
    await fails([scene.file, '--to', nobody, '--as', 'bpp.example.com|key-2'], 'Use a domain such as');
  });

  it('sends what no other byte can stand for: every single change of body or header gives 401', async () => {
    const { request } = JSON.parse((await scene.publish('--json')).out);
    const body = Buffer.from(JSON.stringify(request.body));
    const attempt = async (authorization: string, bytes: Buffer) =>
      (
        await scene.http.request(request.url, {
          method: 'POST',
          headers: { authorization },
          body: bytes,
          timeoutMs: 60_000,
          maxBytes: 65_536,
        })
      ).status;
    expect(await attempt(request.authorization, body)).toBe(200);

    const header = Buffer.from(request.authorization);
    const attempts = [
      ...[...body.keys()].map((index) => attempt(request.authorization, changed(body, index))),
      ...[...header.keys()].map((index) => attempt(changed(header, index).toString('latin1'), body)),
    ];
    const statuses = await Promise.all(attempts);
    expect(statuses.length).toBeGreaterThan(500);
    expect(new Set(statuses)).toEqual(new Set([401]));
  });
});

function changed(bytes: Buffer, index: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[index] = (copy[index] ?? 0) ^ 1;
  return copy;
}
