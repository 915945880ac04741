import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { actions } from '../../../src/protocol/actions.ts';
import type { SigningKey } from '../../../src/protocol/keys.ts';
import { parseSignatureHeader, signRequest } from '../../../src/protocol/request-signature.ts';
import type { Body } from '../network/actor.ts';

// A deliberately broken copy of a service: two proxies around the real one. The first is between callers and the service, and alters answers; the
// second is between the service and the participants that it calls, and alters callbacks and pushes and signs them again with the service's key. So a
// check meets the planted fault, not a broken signature. Files that the service reads there pass unchanged.

export interface BrokenService {
  /** Where requests go. */
  url: string;
  /** Where the service sends callbacks and pushes to. */
  inboxUrl: string;
  /** Where the second proxy sends them. */
  passTo(inbox: string): void;
  /** Plants faults from now on; an empty list removes them. */
  spoil(faults: readonly Spoiling[]): void;
  stop(): Promise<void>;
}

export interface Spoiling {
  /** Changes an answer in place. */
  answer?(answer: PassedAnswer, request: PassedRequest): void;
  /** Changes a callback or a push. */
  message?(message: PassedMessage): void;
  /** Sees a file that the service reads. */
  file?(text: string): void;
}

export interface PassedRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  body: Body;
  authorization: string | undefined;
}

export interface PassedAnswer {
  status: number;
  body: Body;
  /** Sent to the caller as callbacks to this request, signed by the service. */
  also?: Outgoing[];
}

export interface Outgoing {
  action: string;
  body: Body;
}

export interface PassedMessage {
  action: string;
  body: Body;
  isDropped?: boolean;
  /** Signs with another key under the keyId of the service. */
  signer?: SigningKey;
  /** Sent after it, signed by the service. */
  also?: Outgoing[];
}

export async function startBrokenService(options: { url: string; key: SigningKey }): Promise<BrokenService> {
  let faults: readonly Spoiling[] = [];
  let inbox = '';
  /** The signature of each request, which its callback names. */
  const signatures = new Map<string, string>();

  const front = await listen(async (request, response) => {
    const raw = await buffer(request);
    const { authorization } = request.headers;
    const address = new URL(request.url ?? '/', options.url);
    const body = parse(raw);
    const signature = /signature="([^"]*)"/.exec(authorization ?? '')?.[1];
    if (signature !== undefined) signatures.set(body?.context?.messageId, signature);
    const answered = await fetch(address, {
      method: request.method,
      headers: {
        ...(raw.length > 0 && { 'content-type': 'application/json' }),
        ...(authorization !== undefined && { authorization }),
      },
      body: raw.length > 0 ? new Uint8Array(raw) : undefined,
    });
    const answer: PassedAnswer = { status: answered.status, body: await answered.json() };
    const passed = { method: request.method ?? '', path: address.pathname, query: address.searchParams };
    for (const fault of faults) fault.answer?.(answer, { ...passed, body, authorization });
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer.body));
    for (const callback of answer.also ?? []) await send(pathOf(callback), sign(callback, signature));
  });

  const back = await listen(async (request, response) => {
    if (request.method === 'GET') {
      const bytes = await passFile(inbox, request, response);
      for (const fault of faults) fault.file?.(bytes.toString());
      return;
    }
    const raw = await buffer(request);
    const { authorization = '' } = request.headers;
    const body = parse(raw);
    const action = Object.values(actions).find(({ path }) => path === request.url)?.name ?? '';
    const message: PassedMessage = { action, body };
    for (const fault of faults) fault.message?.(message);
    const answering = parseSignatureHeader(authorization).chained
      ? signatures.get(body.context.messageId)
      : undefined;
    const isChanged = message.signer !== undefined || JSON.stringify(body) !== raw.toString();
    if (!message.isDropped)
      await send(request.url ?? '', isChanged ? sign(message, answering) : { bytes: raw, authorization });
    for (const more of message.also ?? [])
      await send(pathOf(more), sign(more, more.action === action ? answering : undefined));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ message: { status: 'ACK', messageId: body.context.messageId } }));
  });

  function sign({ body, signer = options.key }: PassedMessage, answering: string | undefined) {
    const bytes = Buffer.from(JSON.stringify(body));
    const key = { ...options.key, privateKey: signer.privateKey };
    return { bytes, authorization: signRequest(key, bytes, { now: new Date(), answering }) };
  }

  async function send(path: string, { bytes, authorization }: { bytes: Buffer; authorization: string }) {
    const headers = { 'content-type': 'application/json', authorization };
    const sent = fetch(`${inbox}${path}`, { method: 'POST', headers, body: new Uint8Array(bytes) });
    // The receiver may be gone.
    await sent.catch(() => undefined);
  }

  return {
    url: urlOf(front),
    inboxUrl: urlOf(back),
    passTo(address) {
      inbox = address;
    },
    spoil(next) {
      faults = next;
    },
    async stop() {
      for (const server of [front, back]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

async function passFile(origin: string, request: IncomingMessage, response: ServerResponse): Promise<Buffer> {
  const { 'if-none-match': etag } = request.headers;
  const headers = etag === undefined ? undefined : { 'if-none-match': etag };
  // Without a receiver there are no files.
  const file = await fetch(`${origin}${request.url}`, { headers }).catch(() => undefined);
  response.writeHead(file?.status ?? 404, { etag: file?.headers.get('etag') ?? '' });
  const bytes = file ? Buffer.from(await file.arrayBuffer()) : Buffer.alloc(0);
  response.end(bytes);
  return bytes;
}

async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Server> {
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function pathOf({ action }: Outgoing): string {
  return Object.values(actions).find(({ name }) => name === action)?.path ?? '';
}

function parse(raw: Buffer): Body {
  try {
    return JSON.parse(raw.toString('utf8'));
  } catch {
    return undefined;
  }
}
