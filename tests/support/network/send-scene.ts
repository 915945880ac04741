import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { register as registerSendCommand } from '../../../src/cli/send.ts';
import type { Answer } from '../../../src/http/error-answer.ts';
import { createGuardedClient, type GuardedClient } from '../../../src/http/guarded-client.ts';
import { signedRoute } from '../../../src/http/signed-route.ts';
import type { VerifiedRequest } from '../../../src/http/verified-request.ts';
import { silentLogger } from '../../../src/logger.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { ack } from '../../../src/protocol/acknowledgement.ts';
import { actions } from '../../../src/protocol/actions.ts';
import { publicKeyOf, type SigningKey } from '../../../src/protocol/keys.ts';
import { createRegistryClient } from '../../../src/registry/client.ts';
import { loadOrCreateSigningKey } from '../../../src/registry/key-files.ts';
import { startRegistryRole } from '../../../src/registry/role.ts';
import { openDatabase } from '../../../src/storage/database.ts';
import { registerParticipant } from '../../../src/storage/registry/participants.ts';
import { createTestDatabase } from '../database/database.ts';
import { type CommandRun, runCommand } from '../processes/command.ts';
import { createParticipant, createService, listen, registryName } from './signed-service.ts';

// `signpost send` and its receiver: a service with signed routes, a registry and a database, all real, on real ports. The test sets the service's answers.

export const self = createParticipant('catalog.example.com');

export const publishFile = {
  context: { bppId: 'somebody.else.example', transactionId: 'kept', ttl: 'PT1H' },
  message: {
    catalogs: [
      {
        id: 'c1',
        descriptor: { name: 'C' },
        provider: { id: 'p', descriptor: { name: 'P' } },
        resources: [{ id: 'r' }],
      },
    ],
  },
};

export type Publish = VerifiedRequest<typeof actions.publish>;

export interface SendScene {
  /** Address of the service. */
  url: string;
  /** A separate client, for requests that the command does not send. */
  http: GuardedClient;
  directory: string;
  /** The path of `publishFile`. */
  file: string;
  /** The publishes since the last reset. */
  received: Publish[];
  /** The answer to the next publishes. */
  onPublish: (request: Publish) => Answer;
  /** Settings for other commands to take part. */
  env: Record<string, string>;
  run(args: string[], stdin?: string): Promise<CommandRun>;
  /** Sends the file to the service as bpp.example.com. */
  publish(...args: string[]): Promise<CommandRun>;
  register(key: SigningKey, url?: string): Promise<void>;
  /** Restores the initial state, except for registrations. */
  reset(): void;
  close(): Promise<void>;
}

export async function startSendScene(): Promise<SendScene> {
  const directory = mkdtempSync(join(tmpdir(), 'signpost-send-'));
  const file = join(directory, 'publish.json');
  const home = await createTestDatabase();
  const logger = silentLogger();
  const metrics = createMetrics({ process: false });
  const database = await openDatabase({ url: home.url, logger, maxConnections: 4 });
  const registryRole = await startRegistryRole({ database, logger, metrics, host: '127.0.0.1', port: 0 });
  const http = createGuardedClient({ allowPrivateAddresses: true });
  const registry = createRegistryClient({
    url: registryRole.url,
    registryName,
    client: http,
    logger,
    metrics,
  });
  const signed = createService(self, { findKey: registry.findKey });
  const service = await listen((server) => {
    signedRoute(server, signed, actions.publish, async (request) => {
      scene.received.push(request);
      return scene.onPublish(request);
    });
    signedRoute(server, signed, actions.listSubscriptions, async ({ query }) => ({
      status: 200,
      body: { query },
    }));
    server.post('/unsigned', async () => ({ message: { status: 'ACK' } }));
  });
  const acknowledge = ({ context }: Publish) => ({ status: 200, body: ack(context.messageId) });

  const scene: SendScene = {
    url: service.url,
    http,
    directory,
    file,
    received: [],
    onPublish: acknowledge,
    env: { DATA_DIR: directory, REGISTRY_URL: registryRole.url },
    run: (args, stdin = '') => runCommand(registerSendCommand, ['send', ...args], scene.env, stdin),
    publish: (...args) =>
      scene.run([
        ...[file, '--to', service.url, '--action', 'catalog/publish', '--as', 'bpp.example.com'],
        ...args,
      ]),
    register: ({ subscriberId, recordId, privateKey }, url) =>
      registerParticipant(database, {
        namespace: subscriberId,
        registryName,
        subscriberId,
        url,
        key: { recordId, publicKey: publicKeyOf(privateKey) },
      }),
    reset() {
      scene.received = [];
      scene.onPublish = acknowledge;
      writeFileSync(file, JSON.stringify(publishFile));
    },
    async close() {
      await service.server.close();
      await registryRole.close();
      await http.close();
      await database.close();
      await home.drop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  await scene.register(self, service.url);
  await scene.register(loadOrCreateSigningKey(directory, { id: 'bpp.example.com', keyId: 'key-1' }));
  return scene;
}
