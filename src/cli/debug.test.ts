import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SendScene, startSendScene } from '../../tests/support/network/send-scene.ts';
import { runCommand } from '../../tests/support/processes/command.ts';
import { signRequest } from '../protocol/request-signature.ts';
import { findSigningKey } from '../registry/key-files.ts';
import { register as registerDebugCommand, splitMessage } from './debug.ts';

describe('signpost debug signature', () => {
  let scene: SendScene;
  beforeAll(async () => {
    scene = await startSendScene();
  });
  afterAll(() => scene?.close());

  const body = '{"context":{},"message":{"a":1}}';

  function write(sentBody: string): string {
    const key = findSigningKey(scene.directory, { id: 'bpp.example.com', keyId: 'key-1' });
    if (!key) throw new Error('the scene has no key');
    const authorization = signRequest(key, Buffer.from(body), { now: new Date() });
    const file = join(scene.directory, 'request.http');
    writeFileSync(
      file,
      `POST /catalog/publish HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n${sentBody}`,
    );
    return file;
  }

  const debug = (...args: string[]) =>
    runCommand(registerDebugCommand, ['debug', 'signature', ...args], scene.env);

  it('says of a request as it was sent that its signature holds', async () => {
    const { exitCode, out } = await debug(write(body));
    expect([exitCode, out]).toEqual([0, expect.stringContaining('The signature is valid.')]);
    expect(out).toContain('key-1 of bpp.example.com');
  });

  it('names the one thing that differs, and ends with 1', async () => {
    const { exitCode, out } = await debug(write(`${body}\n`));
    expect(exitCode).toBe(1);
    expect(out).toContain('The signature is not valid.');
    expect(out).toMatch(/✗ digest/);
    const json = JSON.parse((await debug(write(`${body}\n`), '--json')).out);
    expect(json).toMatchObject({ verdict: 'differs', steps: expect.any(Array) });
  });

  it('takes headers and body from two files', async () => {
    const { header } = splitMessage(`A: b\n\n${body}`);
    expect(header).toBe('A: b');
    const bodyFile = join(scene.directory, 'body.json');
    writeFileSync(bodyFile, body);
    expect((await debug(write(''), '--body', bodyFile)).exitCode).toBe(0);
  });
});
