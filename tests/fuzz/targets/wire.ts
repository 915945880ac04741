import fc from 'fast-check';
import { type Action, actions } from '../../../src/protocol/actions.ts';
import { exchangeRaw, parseAnswers } from '../http-exchange.ts';
import { type ByteMutation, bytesSometimes, mutateBytes, noBytes } from '../mutate-bytes.ts';
import { fault, isAccepted, judgeNack } from '../oracle.ts';
import type { Scene } from '../scene.ts';
import { accepted, Fault, type Target } from '../target.ts';
import { type ActionId, arbitraryBody, type SignedCase, signCase } from './signed-requests.ts';

// Good requests that are damaged as bytes on a socket after they were signed: headers, lengths, chunks, encodings, and the body.

interface WireCase {
  signed: SignedCase;
  /** Changes of the body after it was signed. */
  body: readonly ByteMutation[];
  /** Changes of the bytes of request line and headers. */
  head: readonly ByteMutation[];
  lines: HeadChange;
  framing: Framing;
}

interface HeadChange {
  /** Header lines to add. */
  add: readonly string[];
  /** Lines to send twice, or not at all. */
  double: readonly string[];
  drop: readonly string[];
  requestLine?: string | undefined;
}

interface Framing {
  /** Added to Content-Length. */
  lengthOff: number;
  /** If the body is chunked: the sizes, as they are written. */
  chunks?: readonly string[] | undefined;
}

const headerLines: readonly string[] = [
  ...[
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: identity',
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding : chunked',
  ],
  ...[
    'Content-Length: 0',
    'Content-Length: -1',
    'Content-Length: 1, 1',
    'Content-Length: 99999999999999999999',
    'Content-Length: 0x10',
  ],
  ...[
    'Expect: 100-continue',
    'Expect: something',
    'Upgrade: h2c',
    'Connection: upgrade',
    'Connection: close',
    'Content-Encoding: gzip',
  ],
  ...[
    'Authorization: Signature keyId="a|b|ed25519"',
    'Authorization: Basic YTpi',
    'Authorization:',
    'Host: other.test',
    'Host:',
  ],
  ...[
    'Content-Type: text/plain',
    'Content-Type: application/json; charset=utf-16',
    'X-Forwarded-For: 1.2.3.4, ::1, x',
    'X-Request-Id: \x01',
  ],
  ...[
    ' folded: line',
    'No colon here',
    ': empty name',
    'Na me: x',
    `Long: ${'x'.repeat(9_000)}`,
    `Longer: ${'x'.repeat(20_000)}`,
  ],
  ...[
    'Accept-Encoding: gzip;q=x',
    'Range: bytes=0-0',
    'If-None-Match: *',
    'Trailer: Authorization',
    'TE: trailers',
    'Cookie: \xff',
  ],
];

const requestLines: readonly string[] = [
  ...[
    'GET {path} HTTP/1.1',
    'PUT {path} HTTP/1.1',
    'OPTIONS * HTTP/1.1',
    'CONNECT a:1 HTTP/1.1',
    'TRACE {path} HTTP/1.1',
    'PRI * HTTP/2.0',
  ],
  ...[
    'POST {path} HTTP/1.0',
    'POST {path} HTTP/9.9',
    'POST {path}',
    'POST  {path} HTTP/1.1',
    'post {path} HTTP/1.1',
    'POST http://x.test{path} HTTP/1.1',
  ],
  ...[
    'POST {path}/ HTTP/1.1',
    'POST /%zz{path} HTTP/1.1',
    'POST {path}?a=%zz HTTP/1.1',
    'POST {path}#x HTTP/1.1',
    'POST //{path} HTTP/1.1',
  ],
  ...[
    'POST /..{path} HTTP/1.1',
    `POST {path}?${'a=1&'.repeat(3_000)} HTTP/1.1`,
    'POST {path}\x00 HTTP/1.1',
    'POST /\xff{path} HTTP/1.1',
  ],
];

const chunkSizes = fc.oneof(
  fc.constantFrom('0', 'ffffffff', 'fffffffffffffffff', '-1', 'x', '', '5;ext=1', '0x5', ' 5'),
  fc.integer({ min: 1, max: 900 }).map((size) => size.toString(16)),
);

const sent: readonly ActionId[] = [
  'publish',
  'discover',
  'subscribe',
  'push',
  'search',
  'onPublish',
  'listSubscriptions',
];
const none = fc.constant<never[]>([]);
const sometimes = <T>(arbitrary: fc.Arbitrary<T>, otherwise: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: otherwise }, { weight: 1, arbitrary });

export const wire: Target<WireCase> = {
  name: 'signed requests, damaged on the wire',
  weight: 18,
  concurrency: 24,
  cases: fc.constantFrom(...sent).chain((action) =>
    fc.record({
      signed: fc.record({
        action: fc.constant(action),
        role: fc.constant(roles[action] ?? 'catalog'),
        signer: fc.constant(signers[action] ?? 'application'),
        body: arbitraryBody(action),
        query: fc.constant(''),
        bytes: noBytes,
      }),
      body: bytesSometimes(),
      head: bytesSometimes(),
      lines: fc.record({
        add: sometimes<readonly string[]>(fc.array(fc.constantFrom(...headerLines), { maxLength: 3 }), none),
        double: sometimes<readonly string[]>(fc.array(headerName, { maxLength: 1 }), none),
        drop: sometimes<readonly string[]>(fc.array(headerName, { maxLength: 1 }), none),
        requestLine: sometimes(fc.constantFrom<string | undefined>(...requestLines), fc.constant(undefined)),
      }),
      framing: fc.record({
        lengthOff: sometimes(fc.integer({ min: -20, max: 20 }), fc.constant(0)),
        chunks: sometimes<readonly string[] | undefined>(
          fc.array(chunkSizes, { minLength: 1, maxLength: 5 }),
          fc.constant(undefined),
        ),
      }),
    }),
  ),
  run: runOnWire,
};

const roles: Partial<Record<ActionId, SignedCase['role']>> = {
  ...{ discover: 'discovery', push: 'discovery', onPublish: 'publisher' },
};
const signers: Partial<Record<ActionId, SignedCase['signer']>> = {
  ...{ publish: 'provider', push: 'feed', onPublish: 'catalog' },
};
const headerName = fc.constantFrom('host', 'authorization', 'content-length', 'content-type');

async function runOnWire(scene: Scene, one: WireCase, id: string): Promise<string> {
  const { body, authorization, path } = await signCase(scene, one.signed, id);
  const action: Action = actions[one.signed.action];
  const damaged = mutateBytes(body, one.body);
  const bytes = Buffer.concat([
    renderHead(one, { action, authorization, path, id, length: damaged.length }),
    renderBody(damaged, one.framing),
  ]);
  const received = await exchangeRaw(scene.urls[one.signed.role], bytes);
  // The server may close the connection on bytes that are not a complete request.
  if (received.length === 0) return 'closed';
  const answers = parseAnswers(received);
  if (!answers) throw new Fault(`what came back is no HTTP: ${received.toString('latin1').slice(0, 400)}`);
  const [first] = answers;
  if (!first) return 'closed';
  // Answers to anything after the first request on the connection follow the same rules.
  const outcomes = answers.map((answer) => (isAccepted(answer) ? accepted : judgeNack(answer)));
  if (outcomes.includes(accepted) && !damaged.equals(body) && isWhole(one))
    throw fault('a body that was changed after it was signed was accepted', first);
  return outcomes[0] ?? 'closed';
}

/** Whether the body arrives as written: otherwise the server may have read its signed part. Bytes after a GET are not part of it. */
function isWhole({ signed, framing, head, lines }: WireCase): boolean {
  const { body }: Action = actions[signed.action];
  if (body === undefined) return false;
  const { add, double, drop, requestLine } = lines;
  const untouched = [add, double, drop, head].every((list) => list.length === 0);
  return framing.lengthOff === 0 && framing.chunks === undefined && requestLine === undefined && untouched;
}

interface Written {
  action: Action;
  authorization: string;
  path: string;
  id: string;
  length: number;
}

function renderHead({ lines, framing, head }: WireCase, written: Written): Buffer {
  const { action, authorization, path, id, length } = written;
  const { add, double, drop, requestLine = `${action.method} {path} HTTP/1.1` } = lines;
  const hasBody = action.body !== undefined;
  const headers = [
    'host: 127.0.0.1',
    `authorization: ${authorization}`,
    'content-type: application/json',
    `x-request-id: ${id}`,
    ...(framing.chunks ? ['transfer-encoding: chunked'] : []),
    ...(hasBody && !framing.chunks ? [`content-length: ${length + framing.lengthOff}`] : []),
  ];
  const isNamed = (names: readonly string[]) => (line: string) =>
    names.some((name) => line.startsWith(`${name}:`));
  const kept = headers.filter((line) => !isNamed(drop)(line));
  const all = [requestLine.replace('{path}', path), ...kept, ...kept.filter(isNamed(double)), ...add];
  const text = Buffer.from(`${all.join('\r\n')}\r\nconnection: close\r\n\r\n`, 'latin1');
  return mutateBytes(text, head);
}

function renderBody(body: Buffer, { chunks }: Framing): Buffer {
  if (!chunks) return body;
  const parts: Buffer[] = [];
  let at = 0;
  for (const size of chunks) {
    const count = Number.parseInt(size, 16) || 0;
    parts.push(Buffer.from(`${size}\r\n`), body.subarray(at, at + count), Buffer.from('\r\n'));
    at += Math.max(0, count);
  }
  const rest = body.subarray(at);
  const last =
    rest.length > 0 ? [Buffer.from(`${rest.length.toString(16)}\r\n`), rest, Buffer.from('\r\n')] : [];
  return Buffer.concat([...parts, ...last, Buffer.from('0\r\n\r\n')]);
}
