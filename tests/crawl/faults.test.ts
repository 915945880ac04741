import { describe, expect, it } from 'vitest';
import type { SigningKey } from '../../src/protocol/keys.ts';
import { catalogOf, openScene, type Scene, teas, useScenes } from '../support/hosted/crawl-scene.ts';
import { forge } from '../support/hosted/forged-node.ts';
import { describeFaults, type Fault } from '../support/hosted/planted-faults.ts';
import { newSigningKey } from '../support/hosted/published-tree.ts';
import { answers, copyOf, oldCopy, only, replaced } from '../support/hosted/tampering.ts';
import type { Body } from '../support/network/actor.ts';
import { star } from '../support/values/costly-geometries.ts';

// Every row of the table of errors (self-hosted spec: Errors) that concerns files and versions, and other faults of them: what is served afterwards,
// the line in the crawl log with advice, the metric. The provider is the real publisher; a proxy tampers on the way, or turns it into a node that
// signs wrong documents.

let scene: Scene;
const network = useScenes((opened) => {
  scene = opened;
});

const charger = {
  '@context': 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld',
  '@type': 'EnergyResourceEVCharger',
};

type Spoil = Fault['spoil'];

/** The resources of a file, baseline or change. */
const resourcesIn = (file: Body): Body[] => file.catalog?.resources ?? file.resources.upserts;

/** The file is changed and signed as requested; the entry that names it is updated. */
const forged =
  (change: (file: Body) => void, signature?: 'as it was' | SigningKey): Spoil =>
  (provider, kind) =>
    forge(provider, { [kind]: change }, signature && { signed: { [kind]: signature } });

const nothing = () => undefined;

describeFaults('a baseline or change file', network, [
  {
    code: 'digest-mismatch',
    what: 'has other bytes than its entry declares',
    spoil: (_provider, kind) => only(kind, replaced('Tea', 'Tee')),
  },
  {
    code: 'digest-mismatch',
    what: 'is a page, and not the file at all',
    spoil: (_provider, kind) => only(kind, answers(200, '<html>', { 'content-type': 'text/html' })),
  },
  {
    code: 'signature-invalid',
    what: 'has the digest of its entry, but a signature that fails',
    spoil: forged((file) => {
      file.next_update = '2030-01-01T00:00:00Z';
    }, 'as it was'),
  },
  {
    code: 'signature-missing',
    what: 'is not signed',
    spoil: forged((file) => {
      delete file.signature;
    }, 'as it was'),
  },
  {
    code: 'key-unknown',
    what: 'is signed with a key that the registry does not know',
    spoil: forged(nothing, newSigningKey('key-9')),
  },
  {
    code: 'catalog-mismatch',
    what: 'names another catalog inside',
    spoil: forged((file) => {
      file.catalogId = 'another-catalog';
    }),
  },
  {
    code: 'version-mismatch',
    what: 'has another version inside',
    spoil: forged((file) => {
      if (file.version !== undefined) file.version += 1;
      else file.toVersion += 1;
    }),
  },
  {
    code: 'schema-violation',
    what: 'has one resource that its domain schema refuses, among good ones',
    spoil: forged((file) => {
      resourcesIn(file)[0].resourceAttributes = { ...charger, id: 'x', type: 'EV_TOASTER' };
    }),
  },
  {
    code: 'schema-violation',
    what: 'has one resource with a ring that crosses itself more than 100 times, among good ones',
    spoil: forged((file) => {
      resourcesIn(file)[0].area = star(17);
    }),
  },
  {
    code: 'malformed',
    what: 'has one resource without an id, among good ones',
    spoil: forged((file) => {
      delete resourcesIn(file)[0].id;
    }),
  },
  {
    code: 'duplicate-id',
    what: 'has a resource twice',
    spoil: forged((file) => {
      resourcesIn(file).push(resourcesIn(file)[0]);
    }),
  },
  {
    code: 'bad-directive',
    what: 'has a directive for a resource that it does not have',
    spoil: forged((file) => {
      file.directives = [{ resourceId: 'nowhere', extends: { masterResourceId: 'm' } }];
    }),
  },
  {
    code: 'foreign-owner',
    what: 'says that the catalog is of somebody else',
    spoil: forged((file) => {
      file.catalog = { ...file.catalog, bppId: 'somebody-else.signpost.test' };
    }),
  },
  {
    code: 'empty-catalog',
    what: 'leaves nothing in the catalog',
    spoil: forged((file) => {
      if (file.catalog) delete file.catalog.resources;
      else file.resources = { upserts: [], removals: teas(0, 10).map(({ id }) => id) };
    }),
  },
]);

describe('a MASTER catalog', () => {
  it('master-with-offers: that has offers is discarded, because templates are all that it may hold', async () => {
    const { provider, catalogId } = scene;
    const baseline = ({ catalog }: Body) => {
      catalog.offers = [{ id: 'o1', resourceIds: ['r1'] }];
    };
    provider.spoil(forge(provider, { baseline }));
    const publishDirectives = [{ catalogId, catalogType: 'MASTER' as const }];
    await provider.publish({ message: { catalogs: [catalogOf(catalogId, 0, 3)], publishDirectives } });
    await scene.look();
    expect(await scene.served()).toBeUndefined();
    await scene.expectTold('master-with-offers', { catalogId, document: 'baseline' });
  });
});

describe('a fault of our own', () => {
  it('internal-error: holds up nothing else of the node, and the catalog follows when it is mended', async () => {
    const { provider, catalogId } = scene;
    const other = `${catalogId}-other`;
    await scene.publish(0, 10);
    await network().database.query(
      `alter table discovery.resource add constraint planted check (document::text not like '%"Tea 10"%') not valid`,
    );
    await provider.publish({ message: { catalogs: [catalogOf(other, 0, 3)] } });
    await scene.publish(1, 11);
    expect(await scene.served()).toEqual(teas(0, 10));
    expect(await scene.served(other)).toEqual(teas(0, 3));
    await scene.expectTold('internal-error', { catalogId });

    await network().database.query('alter table discovery.resource drop constraint planted');
    await scene.look();
    expect(await scene.served()).toEqual(teas(1, 11));
  });
});

describe('versions lower than those that were seen', () => {
  it('rollback: an old entry in a newly signed index is flagged, and not applied', async () => {
    const { provider } = scene;
    await scene.publish(0, 10);
    const [old] = JSON.parse(
      (await copyOf(`${provider.url}/index/catalogs.index.json`)).body.toString(),
    ).catalogs;
    await scene.publish(1, 11);
    const index = (document: Body) => {
      document.catalogs = [old];
    };
    provider.spoil(forge(provider, { index }));
    await scene.look();
    expect(await scene.served()).toEqual(teas(1, 11));
    await scene.expectTold('rollback', {
      catalogId: scene.catalogId,
      message: expect.stringContaining('entryVersion 1, but 2 was seen'),
    } as never);

    provider.spoil();
    await scene.publish(2, 12);
    expect(await scene.served()).toEqual(teas(2, 12));
  });

  it('rollback: a content version lower than ours is flagged, although the entry is newer', async () => {
    const { provider } = scene;
    await scene.publish(0, 10);
    await scene.publish(1, 11);
    const entry = (document: Body) => {
      document.entryVersion += 5;
      document.changes = [];
    };
    provider.spoil(forge(provider, { entry }));
    await scene.look();
    expect(await scene.served()).toEqual(teas(1, 11));
    await scene.expectTold('rollback', {
      message: expect.stringContaining('version 1, but 2 was seen'),
    } as never);
  });

  it('rollback: an old index as a whole is flagged', async () => {
    await scene.publish(0, 10);
    const old = await copyOf(`${scene.provider.url}/index/catalogs.index.json`);
    await scene.publish(1, 11);
    scene.provider.spoil(only('index', oldCopy(old)));
    await scene.look();
    expect(await scene.served()).toEqual(teas(1, 11));
    await scene.expectTold('rollback', { catalogId: scene.catalogId });
  });
});

describe('a catalogId that was indexed before', () => {
  it('absent: and is in no later index, is kept, logged, and followed when it is back', async () => {
    const { provider, catalogId } = scene;
    await scene.publish(0, 10);
    const index = (document: Body) => {
      document.catalogs = [];
    };
    provider.spoil(forge(provider, { index }));
    await scene.publish(1, 11);
    await scene.look();
    expect(await scene.served()).toEqual(teas(0, 10));
    await scene.expectTold('absent', { catalogId });

    provider.spoil();
    await scene.look();
    expect(await scene.served()).toEqual(teas(1, 11));
  });

  it('of another node is another catalog, and changes nothing of the first', async () => {
    await scene.publish(0, 10);
    const { provider, catalogId } = scene;
    const imitator = await openScene(network());
    try {
      await imitator.provider.publish({ message: { catalogs: [catalogOf(catalogId, 5, 8)] } });
      await scene.look();
      const { rows: copies } = await network().database.query<{ owner: string; count: number }>(
        `select owner, count(*) from discovery.catalog join discovery.resource on catalog_key = catalog.key
         where catalog.id = $1 and served group by owner order by owner`,
        [catalogId],
      );
      expect(copies).toEqual([
        { owner: provider.identity, count: 10 },
        { owner: imitator.provider.identity, count: 3 },
      ]);
    } finally {
      await imitator.end();
    }
  });
});
