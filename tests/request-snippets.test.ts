import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  checkSignatureWindow,
  parseSignatureHeader,
  verifySignature,
} from '../src/protocol/request-signature.ts';
import { snippets } from '../web/src/pages/find/snippets.ts';

// The page shows a search as a program that sends it. Each of them runs here, and what it sends must verify.

const run = promisify(execFile);
const query = { text: "Bob's café", network: '', type: '', conditions: [], expression: '', offset: 0 };
const request = { context: { action: 'discover' }, message: { intent: { textSearch: query.text } } };

describe('the request as the page shows it', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const received: { authorization: string; body: Buffer }[] = [];
  const server = createServer(async (incoming, answer) => {
    received.push({ authorization: incoming.headers.authorization ?? '', body: await buffer(incoming) });
    answer.end('{"message":{"status":"ACK"}}');
  });
  let directory: string;
  let url: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'signpost-snippets-'));
    await writeFile(join(directory, 'consumer.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.close();
    await rm(directory, { recursive: true });
  });

  const textOf = (name: keyof typeof snippets) =>
    snippets[name]({ query, request, sender: { url, keyId: 'consumer.example.org|key-1|ed25519' } });

  const verifyReceived = () => {
    const { authorization, body } = received.pop() ?? { authorization: '', body: Buffer.from('') };
    const header = parseSignatureHeader(authorization);
    checkSignatureWindow(header, new Date(), { clockSkewSeconds: 5, maxSignatureSeconds: 300 });
    expect(verifySignature(header, publicKey, body)).toMatchObject({ subscriberId: 'consumer.example.org' });
    expect(JSON.parse(body.toString())).toEqual(request);
  };

  it('is signed by the lines of TypeScript', async () => {
    await writeFile(join(directory, 'discover.mjs'), textOf('typescript'));
    const { stdout } = await run(process.execPath, ['discover.mjs'], { cwd: directory });
    expect(stdout).toContain('200');
    verifyReceived();
  });

  it.skipIf(process.platform === 'win32')(
    'is signed by the lines of curl (needs curl and OpenSSL 3)',
    async (context) => {
      const versions = await run('sh', ['-c', 'curl --version && openssl version']).catch(() => undefined);
      if (!versions?.stdout.includes('OpenSSL 3')) context.skip('needs curl and OpenSSL 3');
      await run('sh', ['-c', textOf('curl')], { cwd: directory });
      verifyReceived();
    },
  );

  it('is signed by the lines of Python (needs Python with cryptography)', async (context) => {
    const python = await run('python3', ['-c', 'import cryptography']).catch(() => undefined);
    if (!python) context.skip('needs Python with cryptography');
    await writeFile(join(directory, 'discover.py'), textOf('python'));
    await run('python3', ['discover.py'], { cwd: directory });
    verifyReceived();
  });

  it('is quoted for the shell as a command', () => {
    expect(textOf('command')).toContain(`npx signpost discover 'Bob'\\''s café'`);
  });
});
