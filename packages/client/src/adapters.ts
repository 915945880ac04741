import { nack } from '../../../src/protocol/acknowledgement.ts';
import { asProtocolError, SignpostError } from './errors.ts';
import { readBytes } from './read-bytes.ts';
import { isReceivable, maxBodyBytes, type ReceivedRequest, type SentAnswer, tooLarge } from './receive.ts';
import { receivable } from './verify-request.ts';

// The receiving side inside your server: Fastify, Express, or one with the Fetch API. Types are structural: none of these is a dependency.

/** The part of a Signpost that adapters need. */
export interface Receiver {
  receive(request: ReceivedRequest): Promise<SentAnswer>;
}

/** For servers with the Fetch API: `export default { fetch: fetchHandler(signpost) }`. Other addresses get 404. */
export function fetchHandler(receiver: Receiver): (request: Request) => Promise<Response> {
  return async (request) => {
    const { method, headers } = request;
    const { pathname: path } = new URL(request.url);
    if (!isReceivable({ method, path })) return new Response('Not found', { status: 404 });
    const sent = await readBytes(request, maxBodyBytes, tooLarge).then(
      (body) => receiver.receive({ method, path, headers, body }),
      refuse,
    );
    return new Response(sent.body, { status: sent.status, headers: sent.headers });
  };
}

/** For Express and node:http: `app.use(expressHandler(signpost))`, before all body parsers. Other addresses go to the next handler. */
export function expressHandler(receiver: Receiver) {
  return (request: NodeRequest, response: NodeResponse, next?: (error?: unknown) => void): void => {
    const { method = 'GET', originalUrl, url = '/', headers } = request;
    const path = originalUrl ?? url;
    if (!isReceivable({ method, path })) {
      if (next) next();
      else write(response, { status: 404, headers: {}, body: 'Not found' });
      return;
    }
    rawBody(request)
      .then((body) => receiver.receive({ method, path, headers, body }), refuse)
      .then((sent) => write(response, sent))
      .catch((error: unknown) => (next ? next(error) : response.destroy?.()));
  };
}

/** For Fastify: `app.register(fastifyPlugin(signpost))`, with `prefix` if the base address has a path. */
export function fastifyPlugin(receiver: Receiver) {
  return async (fastify: FastifyLike): Promise<void> => {
    // Only inside the plugin: keeps the signed bytes of bodies.
    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: maxBodyBytes },
      (_request, body, done) => done(null, body),
    );
    for (const { path } of receivable)
      fastify.post(path, { bodyLimit: maxBodyBytes }, async ({ headers, body }, reply) => {
        const bytes = body instanceof Uint8Array ? body : new Uint8Array();
        const sent = await receiver.receive({ method: 'POST', path, headers, body: bytes });
        return reply.code(sent.status).headers(sent.headers).send(sent.body);
      });
  };
}

async function rawBody(request: NodeRequest): Promise<Uint8Array> {
  const { body } = request;
  if (body instanceof Uint8Array) return body;
  if (body !== undefined)
    throw new SignpostError(
      'NET_INTERNAL_ERROR',
      'The body is already parsed: mount this handler before express.json(), or use express.raw().',
    );
  return readBytes({ body: request }, maxBodyBytes, tooLarge);
}

function refuse(thrown: unknown): SentAnswer {
  const error = asProtocolError(thrown);
  return {
    status: error.status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(nack(error)),
  };
}

function write(response: NodeResponse, { status, headers, body }: SentAnswer): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(body);
}

export interface NodeRequest extends AsyncIterable<Uint8Array> {
  method?: string;
  url?: string;
  /** Express: includes the path at which a router is mounted. */
  originalUrl?: string;
  headers: Record<string, string | string[] | undefined>;
  /** From express.raw(). */
  body?: unknown;
}

export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
  destroy?(): unknown;
}

export interface FastifyLike {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    contentType: string,
    options: { parseAs: 'buffer'; bodyLimit?: number },
    parser: (request: never, body: Buffer, done: (error: Error | null, body?: unknown) => void) => void,
  ): unknown;
  post(
    path: string,
    options: { bodyLimit?: number },
    handler: (
      request: { headers: Record<string, string | string[] | undefined>; body: unknown },
      reply: FastifyReplyLike,
    ) => Promise<unknown>,
  ): unknown;
}

export interface FastifyReplyLike {
  code(status: number): FastifyReplyLike;
  headers(values: Record<string, string>): FastifyReplyLike;
  send(body: string): unknown;
}
