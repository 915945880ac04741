import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { signTimes } from '../../../src/delivery/bodiless-signature.ts';
import { type Action, actions } from '../../../src/protocol/actions.ts';
import {
  generateSeed,
  privateKeyFromSeed,
  publicKeyOf,
  type SigningKey,
} from '../../../src/protocol/keys.ts';
import {
  parseSignatureHeader,
  signRequest,
  verifySignature,
} from '../../../src/protocol/request-signature.ts';
import type { RegistryClient } from '../../../src/registry/client.ts';
import { freePort } from '../free-port.ts';
import { patienceMs } from '../patience.ts';
import { takeTime, until } from '../time.ts';

// A participant played by the tests, with an identity, a key and an HTTP server. It signs what it sends, verifies what it receives (including the
// callback chain), records it, and answers as set.

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies that they themselves asked for.
export type Body = any;

export interface Received {
  method: string;
  path: string;
  action: string;
  body: Body;
  raw: Buffer;
  /** subscriberId of the verified signer. */
  signer: string;
  chained: boolean;
  /** The text of its signature, which a callback repeats in its own. */
  signature: string;
  /** The whole header, which callbacks of some peers sign instead. */
  authorization: string;
  headers: IncomingMessage['headers'];
  at: number;
}

export interface Reply {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
  delayMs?: number;
  /** Drops the connection instead of answering. */
  hangUp?: boolean;
}

/** Acts on a request before it is read; after `taken` there is no further answer. */
export type Interference = (socket: Socket) => Promise<'taken' | undefined>;

export type Behaviour = (received: Received) => Reply | undefined | Promise<Reply | undefined>;

export interface Exchange {
  status: number;
  body: Body;
  headers: Headers;
  messageId: string;
  /** Whether the signature of the answer is valid. */
  answerSigned: boolean;
}

export interface SendOptions {
  to?: string;
  context?: Record<string, unknown>;
  query?: Record<string, string>;
  /** Sends exactly these bytes instead of a generated envelope. */
  raw?: Buffer;
  headers?: Record<string, string>;
  /** Another key, for requests under a false identity. */
  key?: SigningKey;
  now?: Date;
  /** The signature text of the request that this callback answers. */
  answering?: string;
}

export interface SignedRequest {
  body: Buffer;
  authorization: string;
  messageId: string;
}

export interface Actor {
  id: string;
  key: SigningKey;
  publicKey: string;
  url: string;
  received: Received[];
  behave(behaviour: Behaviour): void;
  /** Applies until it is called without one. */
  interfere(interference?: Interference): void;
  send(action: Action, message?: unknown, options?: SendOptions): Promise<Exchange>;
  /** The bytes of a request as `send` would send it, and its Authorization header. */
  sign(action: Action, message?: unknown, options?: SendOptions): SignedRequest;
  /** Waits for the first received message that fits. */
  waitFor(
    action: string,
    fits?: string | ((received: Received) => boolean),
    timeoutMs?: number,
  ): Promise<Received>;
  /** Closes the server, as if the participant were down; `listen` reopens it on the same port. */
  stop(): Promise<void>;
  listen(): Promise<void>;
}

export async function startActor(options: {
  id: string;
  registry: () => RegistryClient;
  defaultTarget: () => string;
}): Promise<Actor> {
  const { id, registry } = options;
  const privateKey = privateKeyFromSeed(generateSeed());
  const key: SigningKey = { subscriberId: id, recordId: 'key-1', privateKey };
  const received: Received[] = [];
  /** The signature texts with which each message was sent: callbacks must name one of them. */
  const sent = new Map<string, string[]>();
  let behaviour: Behaviour = () => undefined;
  let interference: Interference | undefined;
  let server: Server | undefined;
  // Stays reserved while the server is stopped.
  const port = await freePort();

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if ((await interference?.(request.socket)) === 'taken') return;
    const raw = await buffer(request);
    // GET and DELETE have no context: the table of actions says which one it is.
    const body: Body = raw.length > 0 ? JSON.parse(raw.toString('utf8')) : { context: {} };
    const authorization = request.headers.authorization ?? '';
    const header = parseSignatureHeader(authorization);
    const lookup = await registry().findKey(header.subscriberId, header.recordId);
    if (lookup.kind !== 'key') return answer(response, { status: 401, body: nackBody(`key ${lookup.kind}`) });
    const answering = header.chained ? (sent.get(body.context.messageId) ?? []) : [undefined];
    if (!answering.some((text) => verifies(() => verifySignature(header, lookup.publicKey, raw, text)))) {
      return answer(response, { status: 401, body: nackBody('the signature does not verify') });
    }
    const message: Received = {
      method: request.method ?? '',
      path: request.url ?? '',
      action: body.context.action ?? actionAt(request),
      body,
      raw,
      signer: header.subscriberId,
      chained: header.chained,
      signature: header.signature,
      authorization,
      headers: request.headers,
      at: Date.now(),
    };
    const reply = await behaviour(message);
    if (reply?.delayMs) await takeTime(reply.delayMs);
    if (reply?.hangUp) return void request.socket.destroy();
    // Recorded just before the answer, so that code that waits for the message finds the answer on its way.
    received.push(message);
    answer(response, reply ?? { status: 200 }, body.context.messageId);
  }

  async function listen(): Promise<void> {
    const starting = createServer((request, response) => {
      receive(request, response).catch((error) =>
        answer(response, { status: 500, body: { message: String(error) } }),
      );
    });
    await new Promise<void>((resolve, reject) => {
      starting.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    server = starting;
  }

  await listen();
  const url = `http://127.0.0.1:${port}`;

  function sign(action: Action, message: unknown, signOptions: SendOptions = {}): SignedRequest {
    const { raw, now = new Date() } = signOptions;
    const context = { ...defaultContext(action, id, url, now), ...signOptions.context };
    const body =
      raw ?? (action.method === 'POST' ? Buffer.from(JSON.stringify({ context, message })) : Buffer.alloc(0));
    const authorization = signRequest(signOptions.key ?? key, body, {
      ...signTimes(action.method, now),
      answering: signOptions.answering,
    });
    const { messageId } = context;
    const { signature } = parseSignatureHeader(authorization);
    sent.set(messageId, [...(sent.get(messageId) ?? []), signature]);
    return { body, authorization, messageId };
  }

  return {
    id,
    key,
    publicKey: publicKeyOf(privateKey),
    url,
    received,
    behave: (next) => {
      behaviour = next;
    },
    interfere: (next) => {
      interference = next;
    },
    sign,
    async send(action, message, sendOptions = {}) {
      const { to = options.defaultTarget(), query, headers = {} } = sendOptions;
      const { body, authorization, messageId } = sign(action, message, sendOptions);
      const { signature } = parseSignatureHeader(authorization);
      const response = await fetch(`${to}${action.path}${query ? `?${new URLSearchParams(query)}` : ''}`, {
        method: action.method,
        headers: {
          authorization,
          ...(body.length > 0 && { 'content-type': 'application/json' }),
          ...headers,
        },
        body: action.method === 'POST' ? new Uint8Array(body) : undefined,
      });
      const answerBytes = Buffer.from(await response.arrayBuffer());
      return {
        status: response.status,
        body: answerBytes.length > 0 ? JSON.parse(answerBytes.toString('utf8')) : undefined,
        headers: response.headers,
        messageId,
        answerSigned: await isSigned(registry(), response.headers.get('signature'), answerBytes, signature),
      };
    },
    async waitFor(action, fits = () => true, timeoutMs = patienceMs) {
      const matches =
        typeof fits === 'string' ? (one: Received) => one.body.context.messageId === fits : fits;
      const find = () => received.find((one) => one.action === action && matches(one));
      return until(find, `${action} to ${id}`, timeoutMs);
    },
    listen,
    async stop() {
      const closing = server;
      server = undefined;
      closing?.closeAllConnections();
      await new Promise((resolve) => (closing ? closing.close(resolve) : resolve(undefined)));
    },
  };
}

function actionAt({ method, url = '' }: IncomingMessage): string {
  const [path] = url.split('?');
  return (
    Object.values(actions).find((action) => action.method === method && action.path === path)?.name ?? ''
  );
}

function defaultContext(action: Action, id: string, url: string, now: Date) {
  const caller =
    action === actions.publish || action === actions.push
      ? { bppId: id, bppUri: url }
      : { bapId: id, bapUri: url };
  return {
    version: '2.0.0',
    action: action.name,
    messageId: randomUUID() as string,
    transactionId: randomUUID() as string,
    timestamp: now.toISOString(),
    ...caller,
  };
}

function answer(response: ServerResponse, { status, body, headers }: Reply, messageId?: string): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body ?? { message: { status: status < 300 ? 'ACK' : 'NACK', messageId } }));
}

function nackBody(message: string) {
  return { message: { status: 'NACK', error: { code: 'AUT_SIGNATURE_INVALID', message } } };
}

function verifies(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

async function isSigned(
  registry: RegistryClient,
  value: string | null,
  body: Buffer,
  answering: string,
): Promise<boolean> {
  if (value === null) return false;
  const header = parseSignatureHeader(value);
  const lookup = await registry.findKey(header.subscriberId, header.recordId);
  return lookup.kind === 'key' && verifies(() => verifySignature(header, lookup.publicKey, body, answering));
}
