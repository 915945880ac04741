import { isIdPart } from '../../protocol/identity.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import { fetchManifestAt } from './read-node.ts';
import type { Reader } from './reader.ts';
import { CrawlFault } from './reasons.ts';

/** Whose manifest is served at an address that the operator wrote: a claim, until the manifest is verified as that node's. */
export async function readDomain(reader: Reader, address: string, signal: AbortSignal): Promise<string> {
  const answer = await fetchManifestAt(reader, address, { configuredUrl: address, signal });
  if (answer === 'missing' || answer === 'unchanged') {
    throw new CrawlFault('manifest-missing', `There is no manifest at ${address}.`, { url: address });
  }
  const { domain } = answer.opened.document;
  if (typeof domain !== 'string' || !isIdPart(domain)) {
    throw new TrustFault('manifest', 'malformed', `The manifest at ${address} names no domain.`);
  }
  return domain;
}
