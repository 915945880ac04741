import type { ReceivedCatalog, Resource } from '../protocol/catalog.ts';
import type { OnDiscoverMessage, RankedResource } from '../protocol/discover-messages.ts';

// Imports only types: the console's page bundles this file.

/** A resource of an on_discover, with its rank and distance if the service returns them. */
interface RankedHit extends Pick<RankedResource, 'rank' | 'distanceMeters'> {
  resource: Resource;
  catalog: ReceivedCatalog;
}

/**
 * The resources of an answer in the order of its ranking, which catalogs do not preserve; without a ranking, catalog by catalog. If two owners use
 * the same ids, the first resource has the first line with these ids, the next one the next line: catalogs come in the order of their best resource.
 */
export function listRanked(answer: Pick<OnDiscoverMessage, 'catalogs' | 'ranking'>): RankedHit[] {
  const { catalogs, ranking = [] } = answer;
  const [nameLine, nameHit] = [nameApart(), nameApart()];
  const lines = new Map(
    ranking.map((line, place) => [nameLine(line.catalogId, line.resourceId), { ...line, place }]),
  );
  return catalogs
    .flatMap((catalog) => (catalog.resources ?? []).map((resource) => ({ resource, catalog })))
    .map((hit) => {
      const line = lines.get(nameHit(hit.catalog.id, hit.resource.id));
      const { place = ranking.length, rank, distanceMeters } = line ?? {};
      const standing = {
        ...(rank !== undefined && { rank }),
        ...(distanceMeters !== undefined && { distanceMeters }),
      };
      return { place, hit: { ...hit, ...standing } };
    })
    .sort((a, b) => a.place - b.place)
    .map(({ hit }) => hit);
}

/** Returns another name for the same ids each time. */
function nameApart() {
  const counts = new Map<string, number>();
  return (...ids: string[]): string => {
    const name = JSON.stringify(ids);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return `${count} ${name}`;
  };
}
