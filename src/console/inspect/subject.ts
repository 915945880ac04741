import { readDomain } from '../../discovery/crawl/read-node.ts';
import type { Reader } from '../../discovery/crawl/reader.ts';
import { isReadingFault, type ReadingFault } from '../../discovery/crawl/reasons.ts';
import { identityOf, isSubscriberId } from '../../protocol/identity.ts';
import { findHomeOfResource, findKnownCatalogs } from '../../storage/console/subjects.ts';
import type { Database } from '../../storage/database.ts';

/** The subject of a text in the bar: a node by its name or address, a catalog, or a resource. */
export type Subject =
  | {
      kind: 'node' | 'catalog' | 'resource';
      node: string;
      address?: string;
      catalogId?: string;
      resourceId?: string;
    }
  /** An address at which no node can be found, with the reason. */
  | { kind: 'node'; address: string; fault: ReadingFault }
  | { kind: 'unknown' };

export async function findSubject(
  { database, reader, signal }: { database: Database; reader: Reader; signal: AbortSignal },
  { text, node }: { text: string; node?: string },
): Promise<Subject> {
  const owner = node === undefined ? undefined : identityOf(node, reader.registryName);
  if (/^https?:\/\//i.test(text)) return findByAddress(reader, text, signal);
  const [catalog] = await findKnownCatalogs(database, { catalogId: text, owner, limit: 1 });
  if (catalog) return { kind: 'catalog', node: catalog.owner, catalogId: catalog.catalogId };
  const home = await findHomeOfResource(database, text);
  if (home) return { kind: 'resource', node: home.owner, catalogId: home.catalogId, resourceId: text };
  // Not known here, but perhaps listed by the node.
  if (owner !== undefined) return { kind: 'catalog', node: owner, catalogId: text };
  if (isSubscriberId(text) && /[./]/.test(text))
    return { kind: 'node', node: identityOf(text, reader.registryName) };
  return { kind: 'unknown' };
}

/** Behind an address stands whoever the manifest there names. Reading is free at the console, so the address may be anybody's. */
async function findByAddress(reader: Reader, address: string, signal: AbortSignal): Promise<Subject> {
  if (!URL.canParse(address)) return { kind: 'unknown' };
  try {
    const domain = await readDomain(reader, new URL(address).origin, { isOperators: false, signal });
    return { kind: 'node', node: identityOf(domain, reader.registryName), address };
  } catch (error) {
    if (isReadingFault(error)) return { kind: 'node', address, fault: error };
    throw error;
  }
}
