import { identityOf, splitIdentity } from '../../src/protocol/identity.ts';
import { generateSeed, privateKeyFromSeed, publicKeyOf, type SigningKey } from '../../src/protocol/keys.ts';
import type { Database } from '../../src/storage/database.ts';
import { registerParticipant } from '../../src/storage/registry/participants.ts';

// The participants of the network whose keys the suite has.

export const registryName = 'subscribers.beckn.one';
export const network = 'nfh.global/beckn-nodes';

/** Besides the roles: `consumer` is `signpost listen` and the console's inbox, `client` uses the client package; the suite plays all others. */
export type ParticipantName =
  | ('catalog' | 'discovery' | 'publisher')
  | ('consumer' | 'client')
  | ('provider' | 'application' | 'feed');

export interface Participant {
  id: string;
  url: string;
  seed: string;
  key: SigningKey;
}

export type Participants = Record<ParticipantName, Participant>;

export function makeParticipants(addresses: Record<ParticipantName, string>): Participants {
  return Object.fromEntries(
    Object.entries(addresses).map(([name, url]) => {
      const id = `${name}.fuzz.test`;
      const seed = generateSeed();
      const privateKey = privateKeyFromSeed(seed);
      return [name, { id, url, seed, key: { subscriberId: id, recordId: 'key-1', privateKey } }];
    }),
  ) as Participants;
}

export async function register(
  database: Database,
  { id, url, key }: Pick<Participant, 'id' | 'url' | 'key'>,
): Promise<void> {
  await registerParticipant(database, {
    ...splitIdentity(identityOf(id, registryName)),
    ...{ subscriberId: id, url, networkIds: [network] },
    key: { recordId: key.recordId, publicKey: publicKeyOf(key.privateKey) },
  });
}

export function settingsOf({
  catalog,
  discovery,
  publisher,
  consumer,
  feed,
}: Participants): Record<string, string> {
  const subscriptions = [catalog, feed].map(({ id, url }) => ({
    ...{ catalogUrl: url, catalogId: id, networkIds: [network] },
  }));
  return {
    ...{ CATALOG_ID: catalog.id, DISCOVERY_ID: discovery.id, PUBLISHER_ID: publisher.id },
    ...{ CATALOG_PRIVATE_KEY: catalog.seed, DISCOVERY_PRIVATE_KEY: discovery.seed },
    ...{ PUBLISHER_PRIVATE_KEY: publisher.seed, PUBLISHER_KEY_ID: 'key-1' },
    ...{ CONSUMER_ID: consumer.id, CONSUMER_PRIVATE_KEY: consumer.seed },
    DISCOVERY_SUBSCRIPTIONS: JSON.stringify(subscriptions),
    DISCOVERY_NETWORKS: JSON.stringify([network]),
  };
}
