import { isIdPart } from '../../protocol/identity.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import { fetchManifestAt } from './read-node.ts';
import type { Reader } from './reader.ts';
import { CrawlFault } from './reasons.ts';

/**
 * Whose manifest is served at an address: a claim, until the manifest is verified as that node's. An address that the operator wrote may be private and
 * without TLS; one that somebody else gave is fetched as addresses of strangers are.
 */
export async function readDomain(
  reader: Reader,
  address: string,
  { isOperators, signal }: { isOperators: boolean; signal: AbortSignal },
): Promise<string> {
  const configured = isOperators ? { configuredUrl: address } : {};
  const answer = await fetchManifestAt(reader, address, { ...configured, signal });
  if (answer === 'missing' || answer === 'unchanged') {
    throw new CrawlFault('manifest-missing', `There is no manifest at ${address}.`, { url: address });
  }
  const { domain } = answer.opened.document;
  if (typeof domain !== 'string' || !isIdPart(domain)) {
    throw new TrustFault('manifest', 'malformed', `The manifest at ${address} names no domain.`);
  }
  return domain;
}
