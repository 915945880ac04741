import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { takeTime } from '../support/time.ts';

// Requests as programs send them, and bytes as no program would.

export interface HttpAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

export interface HttpRequest {
  method: string;
  headers?: Record<string, string>;
  body?: Buffer;
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const timeoutMs = 60_000;

/** Sends path and query unchanged, unlike `fetch`. */
export function exchange(origin: string, path: string, sent: HttpRequest): Promise<HttpAnswer> {
  const { method, headers, body } = sent;
  const { hostname, port } = new URL(origin);
  const length = body && { 'content-length': String(body.length) };
  return new Promise((resolve, reject) => {
    const asked = request(
      { hostname, port, path, method, agent, timeout: timeoutMs, headers: { ...length, ...headers } },
      async (response) => {
        try {
          const chunks: Buffer[] = [];
          for await (const chunk of response) chunks.push(chunk);
          const all = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
          resolve({
            status: response.statusCode ?? 0,
            headers: Object.fromEntries(all),
            body: Buffer.concat(chunks),
          });
        } catch (error) {
          reject(error);
        }
      },
    );
    asked.once('timeout', () => asked.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    asked.once('error', (error: NodeJS.ErrnoException) => {
      // The server closed an idle connection at the moment of its reuse.
      if (asked.reusedSocket && error.code === 'ECONNRESET') resolve(exchange(origin, path, sent));
      else reject(error);
    });
    asked.end(body);
  });
}

/** How long after its bytes the client closes its side: this ends unfinished requests and kept connections. */
const patienceMs = 700;

/** All bytes that are returned until the other side closes. */
export function exchangeRaw(origin: string, bytes: Uint8Array): Promise<Buffer> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, timeout: timeoutMs });
    const chunks: Buffer[] = [];
    socket.once('timeout', () => socket.destroy(new Error(`not closed within ${timeoutMs} ms`)));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.once('end', () => socket.end());
    socket.once('error', (error: NodeJS.ErrnoException) => {
      // The server may close while unwanted bytes are still being written.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.once('close', () => resolve(Buffer.concat(chunks)));
    socket.write(bytes, () => {
      void takeTime(patienceMs).then(() => !socket.destroyed && socket.end());
    });
  });
}

/** The answers in these bytes; undefined if they are not a sequence of complete answers. */
export function parseAnswers(bytes: Buffer): HttpAnswer[] | undefined {
  const answers: HttpAnswer[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const end = rest.indexOf('\r\n\r\n');
    const head = rest.subarray(0, end).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head[0] ?? '')?.[1]);
    if (end === -1 || Number.isNaN(status)) return undefined;
    const headers = Object.fromEntries(
      head.slice(1).map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const length = status === 100 || status === 204 || status === 304 ? 0 : Number(headers['content-length']);
    const start = end + 4;
    if (headers['transfer-encoding'] === 'chunked') {
      const chunked = readChunks(rest.subarray(start));
      if (!chunked) return undefined;
      answers.push({ status, headers, body: chunked.body });
      rest = chunked.rest;
      continue;
    }
    if (Number.isNaN(length) || rest.length < start + length) return undefined;
    if (status !== 100) answers.push({ status, headers, body: rest.subarray(start, start + length) });
    rest = rest.subarray(start + length);
  }
  return answers;
}

function readChunks(bytes: Buffer): { body: Buffer; rest: Buffer } | undefined {
  const parts: Buffer[] = [];
  for (let rest = bytes; ; ) {
    const end = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.subarray(0, end).toString('latin1'), 16);
    if (end === -1 || Number.isNaN(size) || rest.length < end + size + 4) return undefined;
    parts.push(rest.subarray(end + 2, end + 2 + size));
    rest = rest.subarray(end + size + 4);
    if (size === 0) return { body: Buffer.concat(parts), rest };
  }
}
