import {
  generateSeed,
  publicKeyFromSeed,
  Signpost,
  type SignpostOptions,
} from '../../../packages/client/src/index.ts';
import { identityOf, splitIdentity } from '../../../src/protocol/identity.ts';
import { registerParticipant } from '../../../src/storage/registry/participants.ts';
import { defaultNetwork, type TestNetwork } from './network.ts';

// Participants that use the client package, in a network of this process.

export interface ClientIdentity
  extends Pick<SignpostOptions, 'id' | 'keyId' | 'registry' | 'catalogService'> {
  privateKey: string;
}

/** Registers it with a new key; without a url, its callbacks may go anywhere. */
export async function registerClient(
  { database, config, catalogUrl }: TestNetwork,
  name: string,
  url?: string,
): Promise<ClientIdentity> {
  const privateKey = generateSeed();
  const id = `${name}.signpost.test`;
  await registerParticipant(database, {
    ...splitIdentity(identityOf(id, config.REGISTRY_NAME)),
    subscriberId: id,
    url,
    networkIds: [defaultNetwork],
    key: { recordId: 'key-1', publicKey: publicKeyFromSeed(privateKey) },
  });
  return { id, keyId: 'key-1', privateKey, registry: config.registryUrl, catalogService: catalogUrl };
}

/** Listens for callbacks. */
export async function startClient(
  network: TestNetwork,
  name: string,
  options: Partial<SignpostOptions> = {},
): Promise<Signpost> {
  const signpost = new Signpost({
    ...(await registerClient(network, name, options.callbacks)),
    retryBaseMs: 20,
    allowPrivateAddresses: true,
    ...options,
  });
  await signpost.listen();
  return signpost;
}
