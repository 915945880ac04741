import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../tests/support/free-port.ts';
import { type SendScene, startSendScene } from '../../tests/support/network/send-scene.ts';
import { runCommand } from '../../tests/support/processes/command.ts';
import { until } from '../../tests/support/time.ts';
import { register as registerListenCommand } from './listen.ts';

describe('signpost listen', () => {
  let scene: SendScene;
  beforeAll(async () => {
    scene = await startSendScene();
  });
  afterAll(() => scene?.close());

  const callback = () =>
    JSON.stringify({
      context: { messageId: randomUUID(), bppId: 'bpp.example.com', bppUri: 'http://127.0.0.1' },
      message: { results: [{ catalogId: 'c1', status: 'ACCEPTED' }] },
    });

  it('verifies what comes, prints it with its signer, acknowledges it, and ends after as many as were asked for', async () => {
    const port = await freePort();
    const listening = runCommand(
      registerListenCommand,
      ['listen', '--listen', `127.0.0.1:${port}`, '--as', 'bpp.example.com', '--count', '1', '--json'],
      scene.env,
    );
    const send = () =>
      scene.run(
        [
          ...['-', '--action', 'catalog/on_publish', '--to', `http://127.0.0.1:${port}`],
          ...['--as', 'bpp.example.com'],
        ],
        callback(),
      );
    let sent = await send();
    await until(async () => {
      if (sent.exitCode !== 0) sent = await send();
      return sent.exitCode === 0;
    }, 'the callback to be taken');
    expect(sent.out).toContain("The answer's signature is valid: bpp.example.com, key-1.");
    const { exitCode, out } = await listening;
    expect(exitCode).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      signer: expect.stringContaining('bpp.example.com'),
      recordId: 'key-1',
      message: { results: [{ catalogId: 'c1', status: 'ACCEPTED' }] },
    });
  });

  it('says when another program listens there', async () => {
    const taken = new URL(scene.url).port;
    const { exitCode, notes } = await runCommand(
      registerListenCommand,
      ['listen', '--listen', `127.0.0.1:${taken}`, '--as', 'bpp.example.com'],
      scene.env,
    );
    expect([exitCode, notes]).toEqual([1, expect.stringContaining('another program listens there')]);
  });
});
