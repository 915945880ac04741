import { createPublicKey } from 'node:crypto';
import type { SigningKey } from '../protocol/keys.ts';
import type { ParticipantRecord } from '../protocol/registry-record.ts';
import type { TriggerAnswer } from '../protocol/trigger-messages.ts';
import { type RegistryClient, RegistryUnavailable } from '../registry/client.ts';
import { findIndexNames, indexUrl } from './indexes.ts';
import type { PublisherTree } from './tree.ts';

// The registry entries that readers need to find the indexes and trust them (self-hosted spec: What the service does, prerequisites).
// Without them, a catalog never appears anywhere, and nothing else reports it.

type Listed = Pick<PublisherTree, 'root' | 'baseUrl' | 'key'> & {
  /** Base address of this publisher's manifest, if it serves one. */
  url?: string;
};

/** The answer of a publish, with problems that keep readers away. */
export async function withListingProblems(
  answer: TriggerAnswer,
  published: Listed,
  registry: Pick<RegistryClient, 'findKey'>,
): Promise<TriggerAnswer> {
  const warnings = [...(answer.warnings ?? []), ...(await findListingProblems(published, registry))];
  return warnings.length > 0 ? { ...answer, warnings } : answer;
}

async function findListingProblems(published: Listed, registry: Pick<RegistryClient, 'findKey'>) {
  const { subscriberId, recordId } = published.key;
  const indexUrls = (await findIndexNames(published)).map((name) => indexUrl(published, name));
  if (indexUrls.length === 0) return []; // nothing was ever accepted
  try {
    const found = await registry.findKey(subscriberId, recordId);
    if (found.kind === 'key') {
      const isSameKey = createPublicKey(published.key.privateKey).equals(found.publicKey);
      const unlisted = indexUrls.filter((url) => !found.record.catalogIndexUrls.includes(url));
      return [
        ...(isSameKey ? [] : [otherKey(published.key)]),
        ...unlisted.map((url) => notListed(subscriberId, url, findManifestOrigin(found.record, published))),
      ];
    }
    if (found.kind === 'unknown-subscriber')
      return [`The registry does not know ${subscriberId}: published catalogs cannot be found or verified.`];
    const reason = found.reason ?? 'the registry does not know it';
    return [`Signatures of ${subscriberId} with ${recordId} cannot be verified: ${reason}.`];
  } catch (error) {
    if (!(error instanceof RegistryUnavailable)) throw error;
    return [`The registry does not answer, so it is not known whether it lists ${indexUrls.join(', ')}.`];
  }
}

function otherKey({ subscriberId, recordId }: SigningKey): string {
  return `The registry has a different public key for ${recordId} of ${subscriberId}: published catalogs cannot be verified.`;
}

/** The hosted Subscriber record lists the indexes too: crawlers find it by the manifest if the registered address is the publisher's. */
function findManifestOrigin({ url }: ParticipantRecord, published: Listed): string | undefined {
  const origins = [url, published.url].map((text) =>
    text && URL.canParse(text) ? new URL(text).origin : '',
  );
  return origins[0] !== '' && origins[0] === origins[1] ? origins[0] : undefined;
}

function notListed(subscriberId: string, url: string, manifestAt: string | undefined): string {
  const finders = manifestAt
    ? `only crawlers that read the manifest at ${manifestAt} find it`
    : 'no crawler will find it';
  return `The registry record of ${subscriberId} does not list ${url} in meta.catalog_index_urls: ${finders}.`;
}
