import { createPublicKey, type KeyObject } from 'node:crypto';
import type { SigningKey } from '../protocol/keys.ts';
import type { TriggerAnswer } from '../protocol/trigger-messages.ts';
import { type RegistryClient, RegistryUnavailable } from '../registry/client.ts';
import { findIndexNames, indexUrl } from './indexes.ts';
import type { PublisherTree } from './tree.ts';

// What the registry must hold for readers to find the indexes and to believe them (self-hosted spec: What the service does, prerequisites).
// Where it does not, a catalog never appears anywhere, and nobody else would say so.

type Listed = Pick<PublisherTree, 'root' | 'baseUrl' | 'key'>;

/** The answer of a publish, with what keeps readers away. */
export async function withListingProblems(
  answer: TriggerAnswer,
  published: Listed,
  registry: Pick<RegistryClient, 'findKey'>,
): Promise<TriggerAnswer> {
  const warnings = [...(answer.warnings ?? []), ...(await findListingProblems(published, registry))];
  return warnings.length > 0 ? { ...answer, warnings } : answer;
}

async function findListingProblems(
  published: Listed,
  registry: Pick<RegistryClient, 'findKey'>,
): Promise<string[]> {
  const { subscriberId, recordId } = published.key;
  const indexUrls = (await findIndexNames(published)).map((name) => indexUrl(published, name));
  if (indexUrls.length === 0) return []; // nothing was ever accepted
  try {
    const found = await registry.findKey(subscriberId, recordId);
    if (found.kind === 'key') {
      const unlisted = indexUrls.filter((url) => !found.record.catalogIndexUrls.includes(url));
      return [
        ...(isPublicKeyOf(published.key, found.publicKey) ? [] : [otherKey(published.key)]),
        ...unlisted.map((url) => notListed(subscriberId, url)),
      ];
    }
    if (found.kind === 'unknown-subscriber')
      return [`The registry does not know ${subscriberId}: nobody can find or verify what is published.`];
    const reason = found.reason ?? 'the registry does not know it';
    return [`Nobody can verify what ${subscriberId} signs with ${recordId}: ${reason}.`];
  } catch (error) {
    if (!(error instanceof RegistryUnavailable)) throw error;
    return [`The registry could not be asked whether it lists ${indexUrls.join(', ')}.`];
  }
}

function isPublicKeyOf({ privateKey }: SigningKey, publicKey: KeyObject): boolean {
  return createPublicKey(privateKey).equals(publicKey);
}

function otherKey({ subscriberId, recordId }: SigningKey): string {
  return `The registry holds another public key as ${recordId} of ${subscriberId}: nobody can verify what is published.`;
}

function notListed(subscriberId: string, url: string): string {
  return `The registry record of ${subscriberId} does not list ${url} in meta.catalog_index_urls: no crawler will find it.`;
}
