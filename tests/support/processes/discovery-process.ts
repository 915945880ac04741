import { identityOf, splitIdentity } from '../../../src/protocol/identity.ts';
import { publicKeyOf } from '../../../src/protocol/keys.ts';
import { loadOrCreateSigningKey } from '../../../src/registry/key-files.ts';
import { registerParticipant } from '../../../src/storage/registry/participants.ts';
import { freePort } from '../free-port.ts';
import { defaultNetwork, type TestNetwork } from '../network/network.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

/** Registers a discovery service; returns a function that starts its process, always at the same address. */
export async function prepareDiscovery(
  { config, database, databaseUrl }: TestNetwork,
  settings: Record<string, string>,
): Promise<() => Promise<ServiceProcess>> {
  const { discovery } = config.identities;
  const port = await freePort();
  const key = loadOrCreateSigningKey(config.DATA_DIR, discovery);
  await registerParticipant(database, {
    ...splitIdentity(identityOf(discovery.id, config.REGISTRY_NAME)),
    subscriberId: discovery.id,
    url: `http://127.0.0.1:${port}`,
    networkIds: [defaultNetwork],
    key: { recordId: discovery.keyId, publicKey: publicKeyOf(key.privateKey) },
    replaceKey: true,
  });
  return () =>
    startServiceProcess('discovery', {
      DATABASE_URL: databaseUrl,
      DATA_DIR: config.DATA_DIR,
      REGISTRY_URL: config.registryUrl,
      DISCOVERY_ID: discovery.id,
      DISCOVERY_PORT: String(port),
      ALLOW_PRIVATE_ADDRESSES: 'true',
      RETRY_BASE_MS: '50',
      ...settings,
    });
}
