import type { KeyObject } from 'node:crypto';
import { attempt } from '../attempt.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../logger.ts';
import { parsePublicKey } from '../protocol/keys.ts';
import type { TriggerRequest } from '../protocol/trigger-messages.ts';
import { loadOrCreateSigningKey } from '../registry/key-files.ts';
import type { SchemaStore } from '../schemas/schema-store.ts';
import type { ContentMemory } from './content-memory.ts';
import { renewManifest } from './keep-manifest.ts';
import type { NodeDetails } from './manifest.ts';
import { publishCatalogs } from './publish.ts';
import { findManifest } from './read-manifest.ts';
import { openPublisherTree, type PublisherTree } from './tree.ts';

// The publisher of this machine, from the settings. The trigger and the commands use it.

export interface Publisher extends NodeDetails {
  tree: PublisherTree;
}

export interface PublisherFurniture {
  schemas: Pick<SchemaStore, 'checker'>;
  logger: Logger;
  memory?: ContentMemory;
  now?: () => Date;
}

/** Opened for each task, because the current key may have changed. */
export async function openPublisher(config: Config, { schemas, logger, memory, now }: PublisherFurniture) {
  const { publisher } = config.identities;
  const key = loadOrCreateSigningKey(config.DATA_DIR, publisher);
  const tree = openPublisherTree({
    directory: config.publisherDir,
    baseUrl: config.catalogBaseUrl,
    nodeId: publisher.id,
    registryName: config.REGISTRY_NAME,
    key,
    profile: config.WIRE_PROFILE,
    schemas,
    limits: {
      nextUpdateSeconds: config.NEXT_UPDATE_SECONDS,
      compactionChanges: config.COMPACTION_CHANGES,
      compactionFraction: config.COMPACTION_FRACTION,
    },
    logger,
    ...(memory && { memory }),
    ...(now && { now }),
  });
  return {
    tree: { ...tree, oldKeys: await readFormerKeys(tree) },
    url: publisher.url,
    domain: config.PUBLISHER_DOMAIN,
    countries: config.PUBLISHER_COUNTRIES,
  };
}

/** Publishes and updates the manifest, because the first catalog of an index makes that index known. */
export async function publish({ tree, ...details }: Publisher, request: TriggerRequest, indexName?: string) {
  const answer = await publishCatalogs(tree, request, indexName);
  await renewManifest(tree, details);
  return answer;
}

async function readFormerKeys({ root, key }: PublisherTree): Promise<Map<string, KeyObject>> {
  const listed = (await findManifest(root))?.manifest.keys ?? [];
  const former = listed.filter(({ kid }) => kid !== key.recordId);
  return new Map(former.flatMap(({ kid, x = '' }) => findPublicKey(x).map((publicKey) => [kid, publicKey])));
}

/** Empty for a text that is not a key, because the manifest may be foreign. */
function findPublicKey(text: string): KeyObject[] {
  return attempt(() => [parsePublicKey(text)]) ?? [];
}
