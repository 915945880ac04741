import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Discovering, filter, resourceIds, startDiscovering } from '../../support/network/discover.ts';

// Processes cache documents and geometries. The database reports each one that is written, even if its catalog's row is unchanged.

let discovering: Discovering;
beforeAll(async () => {
  discovering = await startDiscovering();
  const lamp = {
    ...{ id: 'lamp', kind: 'lamp', color: 'red' },
    places: [{ geo: { type: 'Point', coordinates: [10, 50] } }],
  };
  await discovering.hold([{ id: 'lamps', resources: [lamp] }]);
});
afterAll(() => discovering.network.close());

it('a document that is written by itself is shown as it is now', async () => {
  const { network, found } = discovering;
  const colors = async () => {
    const { message } = await found(filter('$.catalogs[*].resources[?@.kind == "lamp"]'));
    return message.catalogs[0].resources.map(({ color }: { color: string }) => color);
  };
  expect(await colors()).toEqual(['red']);
  await network.database.query(
    `update discovery.resource set document = jsonb_set(document, '{color}', '"blue"') where id = 'lamp'`,
  );
  expect(await colors()).toEqual(['blue']);
});

it('a geometry that is removed by itself is found no more', async () => {
  const { network, discover, found } = discovering;
  const spatial = [
    {
      op: 'S_DWITHIN',
      targets: '$.catalogs[*].resources[*].places[*].geo',
      geometry: { type: 'Point', coordinates: [10, 50] },
      distanceMeters: 100,
    },
  ];
  expect(resourceIds(await found({ intent: { spatial } }))).toEqual(['lamp']);
  await network.database.query('delete from index_1.geometry');
  expect((await discover({ intent: { spatial } })).status).toBe(202);
});
