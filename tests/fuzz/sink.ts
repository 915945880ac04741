import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

// Receives everything that the services send to the participants of the suite. Acknowledges unless another answer is set.

export interface Sent {
  method: string;
  path: string;
  authorization: string;
  body: Buffer;
}

export interface SinkAnswer {
  status?: number;
  headers?: Record<string, string>;
  body: Buffer | string;
}

export type Answering = (sent: Sent) => SinkAnswer | undefined;

export interface Sink {
  url: string;
  /** Sets the answer for a path; undefined acknowledges. */
  answer(path: string, answering: Answering | undefined): void;
  stop(): Promise<void>;
}

export async function startSink(): Promise<Sink> {
  const answers = new Map<string, Answering>();
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request;
    const sent = {
      method,
      path: url,
      authorization: headers.authorization ?? '',
      body: await buffer(request),
    };
    const answer = answers.get(url.split('?')[0] ?? '')?.(sent) ?? { body: '{"message":{"status":"ACK"}}' };
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
    response.end(answer.body);
  };
  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer(path, answering) {
      if (answering) answers.set(path, answering);
      else answers.delete(path);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
