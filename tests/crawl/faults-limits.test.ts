import { describe, expect, it } from 'vitest';
import { catalogOf, type Scene, teas, useScenes } from '../support/hosted/crawl-scene.ts';
import { type Forgery, forge } from '../support/hosted/forged-node.ts';
import { kindOf } from '../support/hosted/tampering.ts';
import type { Body } from '../support/network/actor.ts';
import { defaultNetwork } from '../support/network/network.ts';

// Limits for nodes, and files that this discovery service does not accept from every node: quotas and policies of its settings.

let scene: Scene;
const network = useScenes(
  (opened) => {
    scene = opened;
  },
  {
    limits: { compactionFraction: 9 },
    settings: {
      CRAWL_MAX_INDEXES: '2',
      CRAWL_MAX_ENTRIES: '4',
      CRAWL_MAX_CHANGES: '2',
      CRAWL_MAX_MASTERS: '1',
      CRAWL_MAX_RESOURCES: '25',
      CRAWL_DAILY_LIMIT: String(64 * 1024),
      NETWORK_MEMBERSHIP: 'enforce',
      MASTER_PUBLISHERS: 'facilitator.signpost.test',
    },
  },
);

const repeated = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const rows: [code: string, what: string, forgery: Forgery][] = [
  [
    ...(['too-many-entries', 'entries in an index'] as const),
    {
      index: (document) => {
        document.catalogs = repeated(5, () => document.catalogs[0]);
      },
    },
  ],
  [
    ...(['too-many-changes', 'changes in an entry'] as const),
    {
      entry: (document) => {
        document.changes = repeated(3, () => document.changes[0]);
      },
    },
  ],
  [
    ...(['too-many-masters', 'masters of an entry'] as const),
    {
      entry: (document) => {
        document.dependencies = { masters: repeated(2, (index) => ({ catalogId: `m${index}`, version: 1 })) };
      },
    },
  ],
];

describe('more than is read', () => {
  it.each(rows)('%s: %s are refused, and what is served stays', async (code, _what, forgery) => {
    const { provider } = scene;
    await scene.publish(0, 10);
    provider.spoil(forge(provider, forgery));
    await scene.publish(1, 11);
    expect(await scene.served()).toEqual(teas(0, 10));
    await scene.expectTold(code);

    provider.spoil();
    await scene.look();
    expect(await scene.served()).toEqual(teas(1, 11));
  });

  it('too-many-indexes: in a record are refused, and those that are known are still followed', async () => {
    const { provider } = scene;
    await scene.publish(0, 10);
    const record = ({ records }: Body) => {
      records[0].meta.catalog_index_urls = repeated(3, (index) => ({
        url: `${provider.url}/index/${index}`,
      }));
    };
    provider.spoil(forge(provider, { record }));
    await scene.publish(1, 11);
    await scene.expectTold('too-many-indexes');
    expect(await scene.served()).toEqual(teas(1, 11));
  });

  it('too-many-resources: of a node are refused, catalog by catalog', async () => {
    const { provider } = scene;
    const publish = async (id: string, count: number) => {
      await provider.publish({ message: { catalogs: [catalogOf(id, 0, count)] } });
      await scene.look();
    };
    await publish('first', 10);
    await publish('second', 10);
    await publish('third', 10);
    await scene.expectTold('too-many-resources', { catalogId: 'third' });
    expect(await scene.served('second')).toEqual(teas(0, 10));
    expect(await scene.served('third')).toBeUndefined();
    await publish('second', 5);
    await scene.look();
    expect(await scene.served('third')).toEqual(teas(0, 10));
  });

  it('too-many-resources: are refused also when several catalogs come at the same time', async () => {
    const names = ['one', 'two', 'three', 'four'].map((name) => `${scene.catalogId}-${name}`);
    await scene.provider.publish({ message: { catalogs: names.map((id) => catalogOf(id, 0, 10)) } });
    await scene.look();
    const served = await Promise.all(names.map((id) => scene.served(id)));
    expect(served.filter((resources) => resources !== undefined)).toEqual([teas(0, 10), teas(0, 10)]);
    await scene.expectTold('too-many-resources');
  });

  it('daily-quota: of bytes in a day are not fetched; what was read before is served', async () => {
    const { provider } = scene;
    await scene.publish(0, 10);
    // The largest allowed, but never the right content.
    provider.spoil((path, { body }) =>
      kindOf(path) === 'change' ? { body: Buffer.alloc(40 * 1024, ' ') } : { body },
    );
    await scene.publish(1, 11);
    await scene.look();
    await scene.look();
    await scene.expectTold('daily-quota');
    provider.requests.length = 0;
    provider.spoil();
    await scene.look();
    expect(provider.requests.map(({ path }) => kindOf(path))).toEqual(['manifest']);
    expect(await scene.served()).toEqual(teas(0, 10));

    // The next day.
    await network().database.query('update discovery.crawl_node set fetched_on = fetched_on - 1');
    await scene.look();
    expect(await scene.served()).toEqual(teas(1, 11));
  });
});

describe('what is not taken from everyone', () => {
  const publish = (directive: object, changes: object = {}) =>
    scene.provider.publish({
      message: {
        catalogs: [{ ...catalogOf(scene.catalogId, 0, 10), ...changes }],
        publishDirectives: [{ catalogId: scene.catalogId, catalogType: 'REGULAR', ...directive }],
      },
    });

  it('not-relevant: a catalog for other networks than ours is not served, and is when it comes to ours', async () => {
    await publish({ visibleTo: ['elsewhere.org/retail'] });
    await scene.look();
    expect(await scene.served()).toBeUndefined();
    await scene.expectTold('not-relevant', { catalogId: scene.catalogId });
    await publish({ visibleTo: [defaultNetwork] });
    await scene.look();
    expect(await scene.served()).toEqual(teas(0, 10));
    await publish({ visibleTo: ['elsewhere.org/retail'] });
    await scene.look();
    expect(await scene.served()).toBeUndefined();
  });

  it('not-a-member: a catalog for a network that its publisher is no member of is not served', async () => {
    await publish({ visibleTo: [defaultNetwork, 'elsewhere.org/retail'] });
    await scene.look();
    expect(await scene.served()).toBeUndefined();
    await scene.expectTold('not-a-member', { catalogId: scene.catalogId });
  });

  it('master-not-allowed: a MASTER catalog of a node that may not publish any is not served', async () => {
    await publish({ catalogType: 'MASTER' });
    await scene.look();
    expect(await scene.served()).toBeUndefined();
    await scene.expectTold('master-not-allowed', { catalogId: scene.catalogId });
  });
});
