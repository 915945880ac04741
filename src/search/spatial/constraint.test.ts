import { expect, it } from 'vitest';
import { comb } from '../../../tests/support/values/costly-geometries.ts';
import { silentLogger } from '../../logger.ts';
import type { SpatialConstraint } from '../../protocol/discover-messages.ts';
import { ProtocolError } from '../../protocol/errors.ts';
import type { Geometry, Position } from '../../protocol/geojson.ts';
import { createDeadline } from '../deadline.ts';
import type { Tools } from '../tools.ts';
import { judge, planConstraint } from './constraint.ts';

// Which comparisons run on the main thread: the threads of this search only count requests.

const point: Geometry = { type: 'Point', coordinates: [0, 0] };

it.each<[string, SpatialConstraint['operator'], Geometry, Geometry[], isInThread: boolean]>([
  ['a hundred edges with a hundred edges', 'S_INTERSECTS', zigzag(100), [zigzag(100)], true],
  ['fifty edges with fifty edges', 'S_INTERSECTS', zigzag(50), [zigzag(50)], false],
  ['a hundred edges with a hundred edges, by distance', 'S_DWITHIN', zigzag(100), [zigzag(100)], false],
  [
    'a hundred edges with those of two lines, by distance',
    'S_DWITHIN',
    zigzag(100),
    [zigzag(100), zigzag(1)],
    true,
  ],
  ['a few edges with a line that may cross itself', 'S_INTERSECTS', zigzag(1), [zigzag(150)], true],
  ['a polygon with four hundred points', 'S_WITHIN', comb(15), Array(400).fill(point), false],
  ['a point with fifty polygons', 'S_CONTAINS', point, Array(50).fill(comb(15)), false],
])(
  'compares %s in a thread only where there are more than 10,000 pairs',
  async (_, operator, geometry, stored, isInThread) => {
    const asked: string[] = [];
    const search = {
      deadline: createDeadline(60_000),
      evaluation: {
        run: async (_part: string, { name }: { name: string }) => {
          asked.push(name);
          return [];
        },
      },
    } as unknown as Tools;
    const constraint = { operator, geometry, quantifier: 'ANY' as const, targets: [], distanceMeters: 1 };
    await judge(
      search,
      planConstraint(constraint, 0, []),
      stored.map((shape, key) => ({ key, shape: JSON.stringify(shape) })),
    );
    expect(asked).toEqual(isInThread ? ['judgeShapes'] : []);
  },
);

it('names the geometry that was being compared at the deadline, and none where it was not reached', async () => {
  const named: number[] = [];
  let reached: number | undefined;
  const search = {
    deadline: createDeadline(60_000),
    evaluation: {
      run: async (_part: string, { input }: { input: { progress: Int32Array } }) => {
        if (reached !== undefined) input.progress[0] = reached;
        throw new ProtocolError('NET_TIMEOUT', 'too late');
      },
    },
    reader: { index: 'index_1' },
    database: {
      async first(_text: string, [key]: [number]) {
        named.push(key);
      },
    },
    logger: silentLogger(),
  } as unknown as Tools;
  const constraint = { operator: 'S_INTERSECTS', geometry: zigzag(200), quantifier: 'ANY', targets: [] };
  const stored = [7, 8].map((key) => ({ key, shape: JSON.stringify(zigzag(200)) }));
  const compare = () =>
    judge(search, planConstraint(constraint as unknown as SpatialConstraint, 0, []), stored);
  await expect(compare()).rejects.toThrow('too late');
  expect(named).toEqual([]);
  reached = 1;
  await expect(compare()).rejects.toThrow('too late');
  expect(named).toEqual([8]);
});

function zigzag(edges: number): Geometry {
  const coordinates = Array.from({ length: edges + 1 }, (_, index): Position => [index / 1000, index % 2]);
  return { type: 'LineString', coordinates };
}
