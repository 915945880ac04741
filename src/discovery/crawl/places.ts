import { manifestPaths } from '../../protocol/endpoints.ts';
import { splitIdentity } from '../../protocol/identity.ts';
import { type CrawlCode, CrawlFault } from './reasons.ts';

// The places of a node's documents: its manifest, and the indexes in its record.

/** The origins where the manifest of a node may be: those of its addresses, if it has any, and its namespace. */
export function manifestPlaces(identity: string, addresses: readonly (string | undefined)[]): string[] {
  const bases = [...addresses, `https://${splitIdentity(identity).namespace}`];
  const origins = bases.flatMap((base) =>
    base !== undefined && URL.canParse(base) ? [new URL(base).origin] : [],
  );
  return [...new Set(origins)];
}

export function manifestUrlsAt(origin: string): string[] {
  return manifestPaths.map((path) => `${origin}/${path}`);
}

/** Limit of an index address: longer ones cannot be stored. */
const maxUrlBytes = 2_000;

/** A crawler has no other pointer: without indexes, a node silently never appears. Returns the indexes to read. */
export function requireIndexes(
  { limits }: { limits: { maxIndexes: number } },
  identity: string,
  urls: readonly string[],
): readonly string[] {
  const refusal = (code: CrawlCode, listed: string) =>
    new CrawlFault(code, `The record of ${identity} lists ${listed}.`);
  if (urls.length === 0) throw refusal('no-index-urls', 'no catalog index');
  if (urls.length > limits.maxIndexes)
    throw refusal('too-many-indexes', `${urls.length} indexes; at most ${limits.maxIndexes} are read`);
  if (urls.some((url) => Buffer.byteLength(url) > maxUrlBytes))
    throw refusal('bad-url', `an index at an address of more than ${maxUrlBytes} bytes`);
  return urls;
}
