import { describe, expect, it } from 'vitest';
import { makeExample } from './example.ts';

interface Example {
  message: {
    catalogs: [{ id: string; resources: { id: string }[]; offers: { id: string; resourceIds: string[] }[] }];
  };
}

describe('the example of the publish page', () => {
  it('has other ids each time, of which its offers name those of its resources', () => {
    const [first, second] = [1, 2].map((now) => JSON.parse(makeExample(now)) as Example);
    const idsOf = (example?: Example) => {
      const [{ id, resources, offers }] = example?.message.catalogs ?? [
        { id: '', resources: [], offers: [] },
      ];
      return [id, ...resources.map((one) => one.id), ...offers.map((one) => one.id)];
    };
    expect(idsOf(first).length).toBeGreaterThan(3);
    expect(idsOf(first).filter((id) => idsOf(second).includes(id))).toEqual([]);
    const [catalog] = first?.message.catalogs ?? [];
    const resources = catalog?.resources.map(({ id }) => id);
    for (const { resourceIds } of catalog?.offers ?? [])
      expect(resources).toEqual(expect.arrayContaining(resourceIds));
  });
});
