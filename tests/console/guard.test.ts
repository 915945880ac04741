import { readFileSync, statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOperators, operatorTokenFile } from '../../src/console/operator-token.ts';
import { hashSecret } from '../../src/secret-file.ts';
import type { Queryable } from '../../src/storage/database.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';

// Permissions at the console. The change below is one that the guard allows only to the operator.

interface Sent {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  body: any;
}

/** Uses node:http, because fetch does not allow a custom Host and Origin. */
async function send(
  { config }: TestNetwork,
  [method, path]: readonly [string, string],
  headers: Record<string, string> = {},
  body?: object,
): Promise<Sent> {
  const { hostname, port } = new URL(config.consoleUrl);
  return new Promise((resolve, reject) => {
    const all = { ...(body && { 'content-type': 'application/json' }), ...headers };
    const request = httpRequest({ hostname, port, method, path, headers: all }, async (response) => {
      const answer = await text(response);
      const isJson = response.headers['content-type']?.startsWith('application/json');
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: isJson ? JSON.parse(answer) : answer,
      });
    });
    request.on('error', reject).end(body && JSON.stringify(body));
  });
}

const page = ['GET', '/'] as const;
const session = ['GET', '/api/session'] as const;
const read = ['GET', '/api/nodes'] as const;
/** Reads, but with a body. */
const question = ['POST', '/api/find'] as const;
/** Callers that may change something learn that the route does not exist. */
const change = ['POST', '/api/nothing/of/this/name'] as const;

describe('on a loopback address', () => {
  let network: TestNetwork;
  let token: string;
  let cookie: string;
  let own: string;
  const lines: string[] = [];
  beforeAll(async () => {
    const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
    network = await startNetwork({ settings: { ROLES: 'registry,console' }, logger });
    token = readFileSync(operatorTokenFile(network.config), 'utf8').trim();
    const { headers } = await send(network, ['POST', '/api/session'], {}, { token });
    cookie = String(headers['set-cookie']).split(';')[0] ?? '';
    own = new URL(network.config.consoleUrl).host;
  });
  afterAll(() => network?.close());

  it('the token is made at first start, for its owner alone', () => {
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(statSync(join(network.config.DATA_DIR, 'operator-token')).mode & 0o777).toBe(0o600);
  });

  // 400 and 404 come from the route: the guard let the request through.
  it.each<[who: string, headers: () => Record<string, string>, expected: number[]]>([
    ['a program', () => ({}), [200, 200, 200, 400, 401]],
    [
      'the own page',
      () => ({ origin: `http://${own}`, 'sec-fetch-site': 'same-origin' }),
      [200, 200, 200, 400, 401],
    ],
    ['a program with the token', () => ({ authorization: `Bearer ${token}` }), [200, 200, 200, 400, 404]],
    ['a program with a wrong token', () => ({ authorization: 'Bearer wrong' }), [200, 401, 401, 401, 401]],
    ['the cookie alone', () => ({ cookie }), [200, 200, 200, 400, 403]],
    ['the cookie with the header', () => ({ cookie, 'x-signpost': 'console' }), [200, 200, 200, 400, 404]],
    ['the header alone', () => ({ 'x-signpost': 'console' }), [200, 200, 200, 400, 401]],
    [
      'a cookie of another token',
      () => ({ cookie: otherCookie(), 'x-signpost': 'console' }),
      [200, 200, 200, 400, 401],
    ],
    [
      'a cookie that has ended',
      () => ({ cookie: oldCookie(token), 'x-signpost': 'console' }),
      [200, 200, 200, 400, 401],
    ],
    ['a name that leads here', () => ({ host: 'rebound.example.org:4000' }), [403, 403, 403, 403, 403]],
    ['a page of another site', () => ({ origin: 'https://a.example' }), [403, 403, 403, 403, 403]],
    [
      'a page of another port',
      () => ({ origin: 'http://127.0.0.1:1', cookie, 'x-signpost': 'console' }),
      [403, 403, 403, 403, 403],
    ],
    ['a sandboxed page', () => ({ origin: 'null' }), [403, 403, 403, 403, 403]],
    [
      'an image of another site',
      () => ({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }),
      [403, 403, 403, 403, 403],
    ],
    [
      'a link of another site',
      () => ({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }),
      [200, 403, 403, 403, 403],
    ],
    [
      'a frame in a page of another site',
      () => ({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }),
      [403, 403, 403, 403, 403],
    ],
    [
      'what came through a proxy',
      () => ({ 'x-forwarded-for': '192.0.2.1', authorization: `Bearer ${token}` }),
      [403, 403, 403, 403, 403],
    ],
  ])(
    '%s gets the page, the session, a list, a question and a change answered thus',
    async (_, headers, expected) => {
      const asked = [page, session, read, question, change];
      const answers = [];
      for (const one of asked)
        answers.push(await send(network, one, headers(), one === question ? {} : undefined));
      expect(answers.map(({ status }) => status)).toEqual(expected);
    },
  );

  it('a session says who one is', async () => {
    const { body } = await send(network, session, { cookie });
    expect(body).toMatchObject({
      operator: { name: 'operator', role: 'publish' },
      needsToken: false,
      roles: ['registry', 'console'],
      demo: false,
    });
    const { body: ofAnybody } = await send(network, session);
    expect(ofAnybody).toMatchObject({ needsToken: false });
    expect(ofAnybody).not.toHaveProperty('operator');
  });

  it('a session is a cookie that no script can read and no other site can send', async () => {
    const { status, headers } = await send(network, ['POST', '/api/session'], {}, { token });
    expect(status).toBe(204);
    expect(String(headers['set-cookie'])).toMatch(
      /^signpost_operator=\d+\.[\w-]{43}\.operator; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/,
    );
    expect(String(headers['set-cookie'])).not.toContain(token);
  });

  it('a session ends by a cookie that is empty', async () => {
    const { status, headers } = await send(network, ['DELETE', '/api/session']);
    expect([status, String(headers['set-cookie'])]).toEqual([
      204,
      expect.stringContaining('signpost_operator=; Path=/; Max-Age=0'),
    ]);
  });

  it('opening a session is written down', async () => {
    const { body } = await send(network, ['GET', '/api/audit']);
    expect(body.items).toContainEqual(
      expect.objectContaining({ action: 'session.open', operator: 'operator', from: '127.0.0.1' }),
    );
  });

  it('a refusal says what to do, and is no NACK', async () => {
    const { body, headers } = await send(network, change);
    expect(body).toEqual({
      error: {
        code: 'AUT_SIGNATURE_MISSING',
        message: 'The console requires an operator token.',
        hint: expect.stringContaining(operatorTokenFile(network.config)),
      },
    });
    expect(headers['www-authenticate']).toBe('Bearer realm="console"');
  });

  it('the page may load nothing from elsewhere and be framed by nobody', async () => {
    const { headers } = await send(network, page);
    expect(headers['content-type']).toMatch(/^text\/html/);
    expect(headers['content-security-policy']).toMatch(/^default-src 'self'; .*frame-ancestors 'none'$/);
  });

  it('after ten wrong tokens, further wrong ones are put off; the right one and the cookie pass', async () => {
    const open = (given: string) => send(network, ['POST', '/api/session'], {}, { token: given });
    const answers = [];
    for (let attempt = 0; attempt < 12; attempt++) answers.push(await open(`wrong ${attempt}`));
    expect(answers.map(({ status }) => status)).toContain(401);
    const last = answers.at(-1);
    expect([last?.status, last?.headers['retry-after']]).toEqual([429, expect.stringMatching(/^[1-5]$/)]);
    expect((await open(token)).status).toBe(204);
    expect((await send(network, change, { authorization: `Bearer ${token}` })).status).toBe(404);
    expect((await send(network, change, { cookie, 'x-signpost': 'console' })).status).toBe(404);
    expect((await open('wrong again')).status).toBe(429);
  });

  it('the log has requests in it, and no token', () => {
    expect(lines.some((line) => line.includes('/api/session'))).toBe(true);
    expect(lines.filter((line) => line.includes(token))).toEqual([]);
  });
});

describe('on another address', () => {
  const token = 'a-token-of-the-operator';
  let network: TestNetwork;
  beforeAll(async () => {
    network = await startNetwork({
      settings: { ROLES: 'registry,console', CONSOLE_HOST: '0.0.0.0', OPERATOR_TOKEN: token },
    });
  });
  afterAll(() => network?.close());

  it.each<[who: string, headers: Record<string, string>, expected: number[]]>([
    ['anybody', {}, [200, 200, 401, 401, 401]],
    ['anybody under the name of the machine', { host: 'console.example.org' }, [200, 200, 401, 401, 401]],
    [
      'the operator',
      { authorization: `Bearer ${token}`, host: 'console.example.org' },
      [200, 200, 200, 400, 404],
    ],
    [
      'the operator behind a proxy',
      { authorization: `Bearer ${token}`, 'x-forwarded-for': '192.0.2.1' },
      [200, 200, 200, 400, 404],
    ],
    [
      'the page behind a proxy with TLS',
      {
        host: 'console.example.org',
        origin: 'https://console.example.org',
        cookie: sessionOf(token),
        'x-signpost': 'console',
      },
      [200, 200, 200, 400, 404],
    ],
    [
      'a page of another site',
      { authorization: `Bearer ${token}`, origin: 'https://a.example' },
      [403, 403, 403, 403, 403],
    ],
  ])(
    '%s gets the page, the session, a list, a question and a change answered thus',
    async (_, headers, expected) => {
      const asked = [page, session, read, question, change];
      const answers = [];
      for (const one of asked)
        answers.push(await send(network, one, headers, one === question ? {} : undefined));
      expect(answers.map(({ status }) => status)).toEqual(expected);
    },
  );

  it('who has no token is told that one is needed, and nothing else', async () => {
    expect((await send(network, session)).body).toEqual({ needsToken: true });
  });

  it('metrics and documents ask for the token, too; health does not', async () => {
    const asked = ['/metrics', '/openapi.json', '/docs', '/health', '/ready'];
    const statuses = await Promise.all(
      asked.map(async (path) => (await send(network, ['GET', path])).status),
    );
    expect(statuses).toEqual([401, 401, 401, 200, 200]);
  });
});

function otherCookie(): string {
  return sessionOf('another token of the operator');
}

function sessionOf(token: string, now = new Date()): string {
  const first = { name: 'operator', role: 'publish' as const, tokenHash: hashSecret(token) };
  const operators = createOperators(token, {} as Queryable);
  return operators.openSession(first, { now, isSecure: false }).split(';')[0] ?? '';
}

function oldCookie(token: string): string {
  return sessionOf(token, new Date(Date.now() - 8 * 86_400_000));
}
