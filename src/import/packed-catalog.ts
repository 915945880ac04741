import { hash } from 'node:crypto';
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { addTo } from '../group.ts';
import type { Catalog, Resource } from '../protocol/catalog.ts';
import type { Tariff } from './station.ts';
import { offersOf } from './tariff-offer.ts';

// The stations of a source, compressed until they are published: uncompressed, the chargers and offers of a large operator take several hundred
// megabytes.

export interface PackedCatalog {
  id: string;
  resourceCount: number;
  unpack(): Catalog;
}

export type CatalogHead = Omit<Catalog, 'resources' | 'offers'>;

interface StationContent {
  stationId: string;
  resources: Resource[];
  tariffs: Tariff[];
}

/** Receives contents one by one, and compresses those with the same key together. */
export function createPacker<Key>() {
  const open = new Map<Key, StationContent[]>();
  const packed = new Map<Key, Buffer[]>();
  let count = 0;

  function pack(): void {
    for (const [key, contents] of open)
      addTo(packed, key, deflateRawSync(JSON.stringify(contents), { level: constants.Z_BEST_SPEED }));
    open.clear();
    count = 0;
  }
  return {
    add(key: Key, content: StationContent) {
      addTo(open, key, content);
      count += 1;
      if (count >= packedAtOnce) pack();
    },
    finish() {
      pack();
      return packed;
    },
  };
}

/** Enough per region to compress well with a hundred regions, and few enough to stay in the young generation of the garbage collector. */
const packedAtOnce = 500;

export function packCatalog(
  head: CatalogHead,
  packed: readonly Buffer[],
  { resourceCount, heldBack }: { resourceCount: number; heldBack: ReadonlySet<string> },
): PackedCatalog {
  function unpack(): Catalog {
    const stations = new Map<string, StationContent>();
    for (const { stationId, resources, tariffs } of packed.flatMap(unpackContents)) {
      const station = stations.get(stationId) ?? { stationId, resources: [], tariffs: [] };
      station.resources.push(...resources);
      station.tariffs.push(...tariffs);
      if (!heldBack.has(stationId)) stations.set(stationId, station);
    }
    const contents = [...stations.values()];
    const offers = contents.flatMap(({ stationId, tariffs }) => offersOf(stationId, tariffs));
    return {
      ...head,
      resources: contents.flatMap(({ resources }) => resources),
      ...(offers.length > 0 && { offers }),
    };
  }
  return { id: head.id, resourceCount, unpack };
}

function unpackContents(packed: Buffer): StationContent[] {
  return JSON.parse(inflateRawSync(packed).toString('utf8'));
}

/**
 * Splits a region with many chargers into several catalogs. The id of a station determines its catalog, and the number of catalogs never shrinks, so
 * that stations that come and go do not move others. When the number doubles, half of the stations of each catalog move.
 *
 * @param known ids of the catalogs of earlier imports from the same source
 */
export function packRegion(
  head: CatalogHead,
  packed: readonly Buffer[],
  options: { resourceCount: number; heldBack: ReadonlySet<string>; known: ReadonlySet<string> },
): PackedCatalog[] {
  const { resourceCount, heldBack, known } = options;
  let count = 1;
  while (resourceCount > count * mostChargersOfCatalog || known.has(numbered(head, count).id)) count *= 2;
  if (count === 1) return [packCatalog(head, packed, options)];
  const packer = createPacker<number>();
  const chargers = Array.from({ length: count }, () => 0);
  for (const some of packed)
    for (const content of unpackContents(some)) {
      if (heldBack.has(content.stationId)) continue;
      const index = hash('sha256', content.stationId, 'buffer').readUInt32BE() % count;
      packer.add(index, content);
      chargers[index] = (chargers[index] ?? 0) + content.resources.length;
    }
  const packedAgain = packer.finish();
  return chargers.flatMap((resourceCount, index) => {
    const own = packedAgain.get(index) ?? [];
    return own.length === 0 ? [] : packCatalog(numbered(head, index), own, { resourceCount, heldBack });
  });
}

/** About 10 MB. Crawlers read no file above 100 MB, and changes of status lead to new baselines. */
const mostChargersOfCatalog = 10_000;

function numbered(head: CatalogHead, index: number): CatalogHead {
  if (index === 0) return head;
  const descriptor = { ...head.descriptor, name: `${head.descriptor.name} (${index + 1})` };
  return { ...head, id: `${head.id}:${index + 1}`, descriptor };
}
