import type { Config } from '../../config.ts';
import {
  downDiscoveryId,
  downDiscoveryUrl,
  facilitatorId,
  grocerId,
  providerId,
  secondPublisherId,
} from '../../demo/network.ts';
import { identityOf, splitIdentity } from '../../protocol/identity.ts';
import { publicKeyOf } from '../../protocol/keys.ts';
import { findIndexNames, indexUrl } from '../../publisher/indexes.ts';
import { defaultIndexName } from '../../publisher/paths.ts';
import { placesIn } from '../../publisher/tree.ts';
import { loadOrCreateSigningKey } from '../../registry/key-files.ts';
import type { Database } from '../../storage/database.ts';
import { registerParticipant, setCatalogIndexUrls } from '../../storage/registry/participants.ts';
import { secondPublisher } from './hosted-nodes.ts';

interface Participant {
  id: string;
  type: 'BAP' | 'BPP';
  keyId?: string;
  seed?: string;
  url?: string;
  /** Days after this start until the key expires; default: never. */
  keyDays?: number;
}

/** Few enough for the console to warn of the expiry. */
const grocerKeyDays = 20;

export async function registerOwn(database: Database, config: Config): Promise<void> {
  const { catalog, discovery, publisher, consumer } = config.identities;
  await register(database, config, [
    { ...catalog, type: 'BPP' },
    { ...discovery, type: 'BAP' },
    { ...publisher, type: 'BPP' },
    { id: providerId, type: 'BPP' },
    { id: facilitatorId, type: 'BPP' },
    { ...consumer, type: 'BAP' },
  ]);
  await listIndexes(database, config);
}

export async function registerOthers(database: Database, config: Config): Promise<void> {
  const second = secondPublisher(config);
  await register(database, config, [
    { id: grocerId, type: 'BPP', keyDays: grocerKeyDays },
    { id: downDiscoveryId, url: downDiscoveryUrl, type: 'BAP' },
    { id: secondPublisherId, url: second.identities.publisher.url, type: 'BPP' },
  ]);
  await listIndexes(database, second);
}

async function register(database: Database, config: Config, participants: readonly Participant[]) {
  for (const { type, url, keyDays, ...owner } of participants) {
    const key = loadOrCreateSigningKey(config.DATA_DIR, { keyId: 'key-1', ...owner });
    await registerParticipant(database, {
      ...splitIdentity(identityOf(owner.id, config.REGISTRY_NAME)),
      subscriberId: owner.id,
      type,
      url,
      networkIds: [config.DEFAULT_NETWORK_ID],
      key: {
        ...{ recordId: key.recordId, publicKey: publicKeyOf(key.privateKey) },
        ...(keyDays !== undefined && { validUntil: new Date(Date.now() + keyDays * dayMs) }),
      },
      replaceKey: true,
    });
  }
}

const dayMs = 86_400_000;

/** Writes the addresses of a publisher's catalog indexes into its registry record, including that of its first publish. */
async function listIndexes(database: Database, config: Config): Promise<void> {
  const names = await findIndexNames(placesIn(config.publisherDir));
  const { catalogBaseUrl: baseUrl, identities, REGISTRY_NAME } = config;
  const publisher = splitIdentity(identityOf(identities.publisher.id, REGISTRY_NAME));
  const urls = [...new Set([defaultIndexName, ...names])].map((name) => indexUrl({ baseUrl }, name));
  await setCatalogIndexUrls(database, publisher, urls);
}
