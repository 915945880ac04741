import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProtocolError } from '../protocol/errors.ts';
import { errorAnswer } from './error-answer.ts';
import type { SignedRouteOptions } from './signed-route.ts';

type AnsweredRequest = Pick<FastifyRequest, 'method' | 'url' | 'headers' | 'refusal'>;

const requestTimeout = 60_000;
const headersTimeout = 10_000;
const finishMs = 3_000;

/** Signed routes on Node's own server, for commands: it starts faster than Fastify. signed-route.ts alone decides what a message must be. */
export function createBareServer(onAnswered: (request: AnsweredRequest) => void) {
  const routes = new Map<string, SignedRouteOptions>();
  const limits = { requestTimeout, headersTimeout, connectionsCheckingInterval: 1_000 };
  const server = createServer(limits, (raw, response) => {
    const request = asFastifyRequest(raw);
    const reply = asFastifyReply(response);
    // A connection kept open for a next message would hold up the end of the command.
    response.shouldKeepAlive = false;
    // Also where its sender went away meanwhile.
    response.once('close', () => onAnswered(request));
    const [path] = request.url.split('?');
    const route = routes.get(`${request.method} ${path}`);
    if (route) route.onRequest(request, reply).catch(() => response.destroy());
    else refuseUnknown(request, reply);
  });
  return {
    route: (options: SignedRouteOptions) => void routes.set(`${options.method} ${options.url}`, options),
    /** Rejects with the error of the socket where it cannot listen. */
    async listen({ host, port }: { host: string; port: number }) {
      server.listen(port, host);
      await once(server, 'listening');
      return server.address() as AddressInfo;
    },
    async close() {
      if (!server.listening) return;
      const cutOff = setTimeout(() => server.closeAllConnections(), finishMs);
      server.close();
      await once(server, 'close');
      clearTimeout(cutOff);
    },
  };
}

function refuseUnknown(request: FastifyRequest, reply: FastifyReply): void {
  const unknown = `There is no ${request.method} ${request.url} here.`;
  const error = new ProtocolError('NET_NOT_IMPLEMENTED', unknown, { status: 404 });
  request.refusal = error.code;
  reply.code(error.status).header('content-type', 'application/json');
  reply.send(Buffer.from(JSON.stringify(errorAnswer(error).body)));
}

/** As much of it as a signed route looks at. Actions that a command receives have no query. */
function asFastifyRequest(raw: IncomingMessage): FastifyRequest {
  const { method = 'GET', url = '/', headers, socket } = raw;
  const ip = socket.remoteAddress ?? '';
  return {
    ...{ raw, id: '', ip, method, url, headers, query: {}, server: {} },
    identity: '',
    refusal: '',
  } as object as FastifyRequest;
}

function asFastifyReply(response: ServerResponse): FastifyReply {
  const reply = {
    raw: response,
    hijack: () => reply,
    code(status: number) {
      response.statusCode = status;
      return reply;
    },
    header(name: string, value: string | number) {
      response.setHeader(name, value);
      return reply;
    },
    headers(values: Record<string, string>) {
      for (const [name, value] of Object.entries(values)) response.setHeader(name, value);
      return reply;
    },
    send(payload: Buffer | Readable) {
      if (Buffer.isBuffer(payload)) response.end(payload);
      else payload.once('error', () => response.destroy()).pipe(response);
      return reply;
    },
  };
  return reply as object as FastifyReply;
}
