// Two servers in one child process: a signed read through our signed route, and the yardstick, a bare Fastify route that does the same
// BLAKE2b, Ed25519 verification and signature and nothing else.
import { createHash, sign, verify } from 'node:crypto';
import { fastify } from 'fastify';
import { createServer } from '../../dist/http/server.js';
import { signedRoute } from '../../dist/http/signed-route.js';
import { silentLogger } from '../../dist/logger.js';
import { createMetrics } from '../../dist/metrics.js';
import { actions } from '../../dist/protocol/actions.js';
import { parsePublicKey, privateKeyFromSeed } from '../../dist/protocol/keys.js';

const [serverSeed, callerKey] = process.argv.slice(2);
const self = {
  subscriberId: 'service.example',
  recordId: 'key-1',
  privateKey: privateKeyFromSeed(serverSeed),
};
const publicKey = parsePublicKey(callerKey);
const answer = {
  context: {
    version: '2.0.0',
    action: 'catalog/on_subscription',
    messageId: 'm',
    transactionId: 't',
    timestamp: '2026-01-01T00:00:00Z',
  },
  message: { subscriptions: [], pagination: { total: 0, limit: 20, offset: 0 } },
};

const ours = createServer({
  role: 'bench',
  logger: silentLogger(),
  metrics: createMetrics(),
  ready: async () => {},
});
const record = {
  recordId: 'key-1',
  subscriberId: 'caller.example',
  networkMemberships: [],
  catalogIndexUrls: [],
  state: 'live',
};
const service = {
  role: 'bench',
  self,
  registryName: 'subscribers.beckn.one',
  findKey: async () => ({ kind: 'key', publicKey, record }),
  limits: { clockSkewSeconds: 60, maxSignatureSeconds: 7200, bodyBytes: 5e6, bulkBodyBytes: 16e6 },
  logger: silentLogger(),
};
signedRoute(ours, service, actions.listSubscriptions, async () => ({ status: 200, body: answer }));

const bare = fastify();
const digestOf = (bytes) => createHash('blake2b512').update(bytes).digest('base64');
bare.get('/catalog/subscription', async (request, reply) => {
  const header = request.headers.authorization;
  const [, created, expires, signature] = /created="(\d+)",expires="(\d+)".*signature="([^"]+)"/.exec(header);
  const signed = `(created): ${created}\n(expires): ${expires}\ndigest: BLAKE-512=${digestOf('')}`;
  if (!verify(null, Buffer.from(signed), publicKey, Buffer.from(signature, 'base64')))
    return reply.code(401).send();
  const body = JSON.stringify(answer);
  const now = Math.floor(Date.now() / 1000);
  const text = `(created): ${now}\n(expires): ${now + 300}\ndigest: BLAKE-512=${digestOf(body)}\nrequest-signature: ${signature}`;
  const own = sign(null, Buffer.from(text), self.privateKey).toString('base64');
  reply.header('signature', `Signature created="${now}",expires="${now + 300}",signature="${own}"`);
  return reply.type('application/json').send(body);
});

await ours.listen({ port: 0, host: '127.0.0.1' });
await bare.listen({ port: 0, host: '127.0.0.1' });
process.send({ ours: ours.server.address().port, bare: bare.server.address().port });
process.once('disconnect', () => process.exit());
