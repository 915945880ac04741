import { randomUUID } from 'node:crypto';
import type { ServerOptions } from '../../../src/http/server.ts';
import {
  type Answer,
  type RouteOptions,
  type SignedService,
  signedRoute,
  type VerifiedRequest,
} from '../../../src/http/signed-route.ts';
import { type Action, actions } from '../../../src/protocol/actions.ts';
import { sampleContext, samplePublishMessage } from '../catalogs/sample-messages.ts';
import {
  createParticipant,
  createService,
  findKeyAmong,
  listen,
  type RunningServer,
  type Sent,
  type SignedOutgoing,
  sendSigned,
} from './signed-service.ts';

// Three participants, a server with one action, and bodies that the action accepts.

export const service = createParticipant('catalog.example.org');
export const provider = createParticipant('bpp.example.org');
export const consumer = createParticipant('ds.example.org/subscribers.beckn.one');
export const findKey = findKeyAmong([provider, consumer]);

const servers: RunningServer[] = [];

export async function closeAll(): Promise<void> {
  for (const { server } of servers.splice(0)) await server.close();
}

export async function start<A extends Action>(
  action: A,
  overrides: Partial<SignedService> = {},
  handler: (request: VerifiedRequest<A>) => Promise<Answer> = async () => ({
    status: 200,
    body: { message: {} },
  }),
  { writesLast, ...options }: Partial<ServerOptions> & RouteOptions = {},
): Promise<RunningServer> {
  const running = await listen((server) => {
    const signed = createService(service, { findKey, ...overrides });
    signedRoute(server, signed, action, handler, { writesLast });
    server.get('/plain', async () => ({ plain: true }));
  }, options);
  servers.push(running);
  return running;
}

export async function publish(url: string, outgoing: Partial<SignedOutgoing> = {}): Promise<Sent> {
  return await sendSigned(`${url}/catalog/publish`, {
    from: provider,
    body: bodyOf(actions.publish),
    ...outgoing,
  });
}

export function bodyOf(action: Action, context: object = {}, message: object = messageFor(action)): string {
  const fresh = { messageId: randomUUID(), timestamp: new Date().toISOString() };
  return JSON.stringify({ context: { ...sampleContext(action), ...fresh, ...context }, message });
}

function messageFor(action: Action): object {
  if (action.name === 'catalog/publish' || action.name === 'catalog/push') return samplePublishMessage();
  return action.name === 'catalog/pull' ? { subscriptionId: randomUUID() } : {};
}

export function limitsWith(limits: Partial<SignedService['limits']>): SignedService['limits'] {
  return { ...createService(service).limits, ...limits };
}
