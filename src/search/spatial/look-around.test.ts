import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { arbitraryGeometry, type Lattice, movedEast } from '../../../tests/support/arbitrary-geometry.ts';
import type { SearchingProcess } from '../../../tests/support/index-reader.ts';
import { useProcesses } from '../../../tests/support/processes.ts';
import { catalog } from '../../../tests/support/sample-catalogs.ts';
import type { Geometry } from '../../protocol/geojson.ts';
import { queryBox, sphereBox } from '../../rules/geometry/sphere-box.ts';
import type { Database } from '../../storage/database.ts';
import { refreshCaches } from '../cache/invalidation.ts';
import { writeIndex } from '../write/write-index.ts';
import { countGeometries, findInOrder, findNearby } from './look-around.ts';
import { countRegion, type Region, readNearby, readRegion } from './read-geometries.ts';

const path = '$.catalogs[*].resources[*].geo';
/** In town, over the date line, and near a pole. */
const regions: readonly { lattice: Lattice; east: number }[] = [
  { lattice: { west: 77.5, south: 12.9, step: 2 ** -7, size: 8 }, east: 0 },
  { lattice: { west: -4 * 2 ** -7, south: -10, step: 2 ** -7, size: 8 }, east: 180 },
  { lattice: { west: -100, south: 89.9, step: 2 ** -7, size: 8 }, east: 0 },
];
const now = new Date('2026-06-01T12:00:00Z');

let writer: Database;
/** A process that remembers. */
let reader: SearchingProcess;
const watched = useProcesses(
  (...opened) => {
    [writer, reader] = opened;
  },
  { emptied: 'discovery.run, discovery.catalog, discovery.resource, discovery.geometry' },
);
beforeEach(() => refreshCaches(reader));

const ref = (id: string) => ({ source: 'node', owner: 'provider.example/reg', id });

/** Makes a catalog have these places, one for each of its resources. */
async function place(id: string, ...geometries: Geometry[]): Promise<void> {
  const resources = geometries.map((geo, index) => ({ id: `r${index}`, descriptor: { name: 'Here' }, geo }));
  const incoming = { ...ref(id), type: 'REGULAR', networks: [], mode: 'FULL' } as const;
  await writer.transaction((tx) =>
    writeIndex(tx, now, ({ apply }) => apply([{ ...incoming, catalog: catalog(id, { resources }) }])),
  );
}

const point = (longitude: number, latitude = 13): Geometry => ({
  type: 'Point',
  coordinates: [longitude, latitude],
});

function around(geometry: Geometry, meters = 2_000): Region {
  return { paths: [path], box: queryBox('S_DWITHIN', geometry, meters) };
}

const search = async (region = around(point(77.6))) =>
  (await findInOrder(reader, region, { limit: 1_000 })).map(({ shape }) => JSON.parse(shape));

describe('geometries in the cache', () => {
  it('are those that the database finds, whatever they are and wherever one looks', async () => {
    for (const { lattice, east } of regions) {
      const geometry = arbitraryGeometry(lattice).map((each) => movedEast(each, east));
      await fc.assert(
        fc.asyncProperty(
          fc.array(geometry, { minLength: 1, maxLength: 12 }),
          fc.array(fc.tuple(geometry, fc.constantFrom(0, 500, 3_000, 20_000)), {
            minLength: 1,
            maxLength: 4,
          }),
          async (stored, looks) => {
            await place('c', ...stored);
            await refreshCaches(reader);
            for (const [from, meters] of [...looks, ...looks]) await expectSame(around(from, meters), from);
          },
        ),
        { numRuns: 8 },
      );
    }
  });

  async function expectSame(region: Region, from: Geometry): Promise<void> {
    const box = sphereBox(from);
    for (const limit of [3, 1_000]) {
      const nearby = await findNearby(reader, region, box, limit);
      const expected = await readNearby(writer, region, box, limit);
      expect(nearby.reach).toBeCloseTo(expected.reach, 9);
      expect(nearby.geometries.length).toBe(expected.geometries.length);
    }
    const all = await readRegion(writer, region, { limit: 1_000 });
    expect(strip(await findInOrder(reader, region, { limit: 1_000 }))).toEqual(strip(all));
    const [first] = all;
    if (first)
      expect(strip(await findInOrder(reader, region, { after: first, limit: 2 }))).toEqual(
        strip(all.slice(1, 3)),
      );
    expect(await countGeometries(reader, region, 1_000)).toBe(await countRegion(writer, region, 1_000));
  }

  const strip = (found: readonly { key: number; position: number; shape: string }[]) =>
    found.map(({ key, position, shape }) => ({ key, position, shape }));

  it('are not read again while none of them has changed', async () => {
    await place('c', point(77.6));
    await refreshCaches(reader);
    expect(await search()).toEqual([point(77.6)]);
    watched.statements = 0;
    expect(await search()).toEqual([point(77.6)]);
    expect(watched.statements).toBe(0);
    await place('elsewhere', point(20));
    await refreshCaches(reader);
    watched.statements = 0;
    expect(await search()).toEqual([point(77.6)]);
    expect(await search()).toEqual([point(77.6)]);
    expect(watched.statements).toBe(1); // where that is
  });

  it('follow what comes, moves and goes', async () => {
    const seen: unknown[] = [];
    const look = async () => {
      await refreshCaches(reader);
      seen.push((await search()).length, (await search(around(point(77.9)))).length);
    };
    await look();
    await place('c', point(77.6));
    await look();
    await place('c', point(77.6), point(77.9));
    await look();
    await place('c', point(77.9));
    await look();
    await writer.transaction((tx) => writeIndex(tx, now, ({ remove }) => remove([ref('c')])));
    await look();
    expect(seen).toEqual([0, 0, 1, 0, 1, 1, 0, 1, 0, 0]);
  });

  it('follow several changes that came while one looked elsewhere', async () => {
    const elsewhere = async () => {
      await refreshCaches(reader);
      await search(around(point(20)));
    };
    await place('other', point(77.6));
    await refreshCaches(reader);
    expect(await search()).toHaveLength(1);
    await place('c', point(77.6));
    await elsewhere();
    await place('c', point(77.9));
    await elsewhere();
    watched.statements = 0;
    expect(await search()).toHaveLength(1);
    expect(watched.statements).toBe(0);
    await place('c', point(77.6), point(77.6));
    await elsewhere();
    expect(await search()).toHaveLength(3);
    await writer.transaction((tx) => writeIndex(tx, now, ({ remove }) => remove([ref('c')])));
    await elsewhere();
    expect(await search()).toHaveLength(1);
  });

  it('are what they were when the process last caught up', async () => {
    await place('c', point(77.6));
    await refreshCaches(reader);
    await search();
    await place('c', point(20));
    expect(await search()).toEqual([point(77.6)]);
  });

  it('are found under a path as soon as there is one', async () => {
    const region = around(point(77.6));
    const other = { ...region, paths: ['$.catalogs[*].resources[*].spot'] };
    await place('c', point(77.6));
    await refreshCaches(reader);
    expect(await countGeometries(reader, other, 10)).toBe(0);
    expect((await findNearby(reader, other, sphereBox(point(77.6)), 10)).geometries).toEqual([]);
    const incoming = { ...ref('d'), type: 'REGULAR', networks: [], mode: 'FULL' } as const;
    const resources = [{ id: 'r', descriptor: { name: 'There' }, spot: point(77.6) }];
    await writer.transaction((tx) =>
      writeIndex(tx, now, ({ apply }) => apply([{ ...incoming, catalog: catalog('d', { resources }) }])),
    );
    await refreshCaches(reader);
    expect(await countGeometries(reader, other, 10)).toBe(1);
  });

  it('are all read again after many catalogs have changed', async () => {
    await place('c', point(77.6));
    await refreshCaches(reader);
    await search();
    for (let index = 0; index <= 100; index++) await place(`c${index}`, point(77.6));
    await refreshCaches(reader);
    expect(await search()).toHaveLength(102);
  });

  it('are as recent after hundreds of changes, one by one', async () => {
    await place('c', point(77.6));
    await refreshCaches(reader);
    await search();
    await place('c', point(77.6), point(77.6));
    for (let index = 0; index <= 210; index++) {
      await writer.query(`update discovery.catalog set is_active = is_active`);
      await refreshCaches(reader);
      await search(around(point(20)));
    }
    expect(await search()).toHaveLength(2);
  });

  it('are left to the database where there are too many', async () => {
    await place('c', ...Array.from({ length: 2_501 }, () => point(77.6)));
    await expectLeft(2_501);
  });

  it('are left to the database when too many have come one after the other', async () => {
    await place('c', point(77.6));
    await refreshCaches(reader);
    await search();
    const count = 27;
    for (let index = 0; index < count; index++) {
      await place(`c${index}`, ...Array.from({ length: 95 }, () => point(77.6)));
      await refreshCaches(reader);
      await search();
    }
    watched.statements = 0;
    expect(await countGeometries(reader, around(point(77.6)), 5_000)).toBe(1 + count * 95);
    expect(watched.statements).toBe(1);
  });

  it('are left to the database where they are long', async () => {
    const corners = Array.from({ length: 40_000 }, (_, index) => [77.6 + index * 1e-8, 13]);
    await place('c', point(77.6), { type: 'LineString', coordinates: corners } as Geometry);
    await expectLeft(2);
  });

  async function expectLeft(count: number): Promise<void> {
    await refreshCaches(reader);
    const region = around(point(77.6));
    for (const attempt of [1, 2, 3]) {
      watched.statements = 0;
      expect(await countGeometries(reader, region, 5_000)).toBe(count);
      expect(watched.statements).toBe(attempt === 1 ? 2 : 1);
    }
  }

  it('are left to the database for who asks about many paths, or long ones', async () => {
    await place('c', point(77.6));
    await refreshCaches(reader);
    const region = around(point(77.6));
    const many = Array.from({ length: 50_000 }, (_, index) => `$.catalogs[*].provider.p${index}`);
    for (const paths of [many, [path, `$.catalogs[*].provider.${'p'.repeat(1_000)}`]]) {
      watched.statements = 0;
      for (const attempt of [1, 2]) {
        await countGeometries(reader, { ...region, paths }, 10);
        expect(watched.statements).toBe(attempt);
      }
    }
  });
});
