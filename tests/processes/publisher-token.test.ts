import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { register as registerStateCommands } from '../../src/cli/catalog-state.ts';
import { tokenHeader } from '../../src/cli/trigger-client.ts';
import { readConfig } from '../../src/config.ts';
import { smallCatalog, startPublisher, type TestPublisher, trigger } from '../support/hosted/publisher.ts';
import { runCommand } from '../support/processes/command.ts';
import { publish, useDirectory } from '../support/processes/publish-command.ts';

// The token of the local trigger: where it is stored, when it is required, and how commands get it.

const { directory, write } = useDirectory();

describe('the token of the trigger', () => {
  let publisher: TestPublisher;
  let file: string;
  beforeAll(async () => {
    publisher = await startPublisher();
    file = join(publisher.config.publisherDir, 'trigger-token');
  });
  afterAll(() => publisher.close());

  it('is made at first start, for its owner alone, beside the public files', () => {
    expect(readFileSync(file, 'utf8')).toMatch(/^[A-Za-z0-9_-]{43}\n$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('lets whoever sends it publish', async () => {
    const authorization = `Bearer ${readFileSync(file, 'utf8').trim()}`;
    const answer = await trigger(publisher.config, { pause: [] }, { headers: { authorization } });
    expect(answer.status).toBe(200);
  });

  it.each([
    ['nothing', undefined, 'AUT_SIGNATURE_MISSING'],
    ['another token', `Bearer ${'A'.repeat(43)}`, 'AUT_SIGNATURE_INVALID'],
    ['a shorter one', 'Bearer A', 'AUT_SIGNATURE_INVALID'],
    ['an empty one', 'Bearer ', 'AUT_SIGNATURE_INVALID'],
    ['another scheme', 'Basic AAAA', 'AUT_SIGNATURE_INVALID'],
  ])(
    'answers 401 without it, or with another one, and names the file: %s',
    async (_, authorization, code) => {
      const response = await fetch(`${publisher.config.triggerUrl}/catalog/publish`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(authorization !== undefined && { authorization }),
        },
        body: JSON.stringify({ message: { catalogs: [smallCatalog('stolen')] } }),
      });
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([
        401,
        'Bearer realm="trigger"',
      ]);
      const { message } = (await response.json()) as {
        message: { error: { code: string; message: string } };
      };
      expect(message.error).toMatchObject({ code, message: expect.stringContaining(file) });
    },
  );

  it.each([
    ['POST', '/callbacks'],
    ['GET', '/callbacks/m-1'],
    ['GET', '/nowhere'],
  ])('is asked for by every other address too: %s %s', async (method, path) => {
    const response = await fetch(`${publisher.config.triggerUrl}${path}`, { method });
    expect(response.status).toBe(401);
  });

  it('is not asked for where the process only tells that it is up', async () => {
    expect((await fetch(`${publisher.config.triggerUrl}/health`)).status).toBe(200);
  });

  it.each([
    '/trigger-token',
    '/../trigger-token',
    '/index/../../trigger-token',
    '/%2e%2e/trigger-token',
    '/..%2ftrigger-token',
    '/.well-known/..%2f..%2ftrigger-token',
    '/..%5ctrigger-token',
    '//../trigger-token',
    '/linked-token',
    '/linked-home/trigger-token',
  ])('is never served with the files: %s', async (path) => {
    const root = join(publisher.config.publisherDir, 'public');
    for (const [target, name] of [
      [file, 'linked-token'],
      [publisher.config.publisherDir, 'linked-home'],
    ] as const) {
      rmSync(join(root, name), { force: true });
      symlinkSync(target, join(root, name));
    }
    expect(await getRaw(publisher.config.PUBLISHER_PORT, path)).toEqual({
      status: 404,
      body: expect.not.stringContaining(readFileSync(file, 'utf8').trim()),
    });
  });

  it('takes no request with two Host headers', async () => {
    const { config } = publisher;
    const { authorization = '' } = tokenHeader(config);
    const socket = connect(config.PUBLISHER_TRIGGER_PORT, '127.0.0.1');
    socket.write(
      [
        'POST /catalog/publish HTTP/1.1',
        'Host: localhost',
        'host: rebound.example',
        `Authorization: ${authorization}`,
        'Content-Type: application/json',
        'Content-Length: 12',
        'Connection: close',
        '',
        '{"pause":[]}',
      ].join('\r\n'),
    );
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 [\s\S]*two Host headers/);
  });
});

/** Sends the path unchanged: `fetch` would normalize it. */
async function getRaw(port: number, path: string): Promise<{ status?: number; body: string }> {
  return new Promise((resolve, reject) => {
    httpRequest({ host: '127.0.0.1', port, path })
      .on('response', async (response) =>
        resolve({ status: response.statusCode, body: await text(response) }),
      )
      .on('error', reject)
      .end();
  });
}

describe('a trigger whose token', () => {
  const running: TestPublisher[] = [];
  const start = async (settings: Record<string, string> = {}) => {
    const publisher = await startPublisher(settings);
    running.push(publisher);
    return publisher;
  };
  afterEach(async () => {
    for (const publisher of running.splice(0)) await publisher.close();
  });

  it('is switched off asks for none, and makes no file', async () => {
    const { config } = await start({ PUBLISHER_TRIGGER_TOKEN: 'off' });
    expect((await trigger(config, { pause: [] })).status).toBe(200);
    expect(() => statSync(join(config.publisherDir, 'trigger-token'))).toThrow('ENOENT');
  });

  it('stands in the settings takes that one alone', async () => {
    const token = 'a-token-of-the-operator';
    const { config } = await start({ PUBLISHER_TRIGGER_TOKEN: token });
    expect((await trigger(config, { pause: [] })).status).toBe(200);
    const wrong = await trigger(config, { pause: [] }, { headers: { authorization: `Bearer ${token}s` } });
    expect([wrong.status, wrong.body.message.error.message]).toEqual([
      401,
      expect.stringContaining('PUBLISHER_TRIGGER_TOKEN'),
    ]);
  });

  it('was made before keeps it, and closes its file to others again', async () => {
    const DATA_DIR = mkdtempSync(join(directory, 'kept-'));
    const file = join(DATA_DIR, 'publisher/trigger-token');
    mkdirSync(join(DATA_DIR, 'publisher'));
    writeFileSync(file, 'a-token-of-the-operator\n', { mode: 0o644 });
    const { config } = await start({ DATA_DIR });
    expect(tokenHeader(config)).toEqual({ authorization: 'Bearer a-token-of-the-operator' });
    expect((await trigger(config, { pause: [] })).status).toBe(200);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is no token does not start, and says what to do', async () => {
    const DATA_DIR = mkdtempSync(join(directory, 'empty-'));
    mkdirSync(join(DATA_DIR, 'publisher'));
    writeFileSync(join(DATA_DIR, 'publisher/trigger-token'), '');
    await expect(start({ DATA_DIR })).rejects.toThrow('remove it, and a new one will be created');
  });

  it('is asked for by commands: they read it, and say where they looked when it is another one', async () => {
    const { settings, config } = await start();
    const file = write('coffee.json', smallCatalog('coffee'));
    expect(await publish([file], settings)).toMatchObject({ exitCode: 0 });
    expect(await runCommand(registerStateCommands, ['pause', 'coffee'], settings, '', true)).toMatchObject({
      exitCode: 0,
      notes: expect.stringContaining(`Published by the publisher at ${config.triggerUrl}`),
    });
    const elsewhere = { ...settings, PUBLISHER_DIR: join(directory, 'elsewhere') };
    const run = await publish([file], elsewhere);
    expect(run).toMatchObject({ exitCode: 1, notes: expect.stringContaining('401 AUT_SIGNATURE_MISSING') });
    expect(run.notes).toContain(
      `found none in ${join(directory, 'elsewhere/trigger-token')}: set PUBLISHER_DIR`,
    );
    expect(run.notes).toContain(join(config.publisherDir, 'trigger-token'));
  });

  it('cannot be read is told so by the command', async () => {
    const { settings } = await start();
    const unreadable = mkdtempSync(join(directory, 'unreadable-'));
    mkdirSync(join(unreadable, 'trigger-token')); // even root cannot read a directory as a file
    const file = write('coffee.json', smallCatalog('coffee'));
    const run = await publish([file], { ...settings, PUBLISHER_DIR: unreadable });
    expect(run).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('Run this as the user that runs the publisher'),
    });
  });

  it('is made by several processes at once is one', async () => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), 'signpost-token-'));
    const { publisherDir } = readConfig({ DATA_DIR });
    const script = `import { loadOrCreateTriggerToken } from './dist/publisher/trigger-token.js';
      console.log('ready');
      process.stdin.once('data', () => {
        console.log(loadOrCreateTriggerToken({ publisherDir: process.argv[1] }));
        process.exit();
      });`;
    const children = Array.from({ length: 6 }, () =>
      spawn('node', ['--input-type=module', '-e', script, publisherDir], {
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    );
    try {
      await Promise.all(children.map(({ stdout }) => once(stdout, 'data')));
      const made = children.map(({ stdout }) => text(stdout));
      for (const { stdin } of children) stdin.write('go');
      const tokens = new Set((await Promise.all(made)).map((token) => token.trim()));
      expect([...tokens]).toEqual([readFileSync(join(publisherDir, 'trigger-token'), 'utf8').trim()]);
    } finally {
      for (const child of children) child.kill();
      rmSync(DATA_DIR, { recursive: true });
    }
  });
});
