import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectOpenSearch } from '../../src/search/opensearch/client.ts';
import { writeBulk } from '../../src/search/opensearch/indexes.ts';
import { writeIndex } from '../../src/search/port.ts';
import { createIndexes } from '../../src/search/upkeep/fed-indexes.ts';
import { retireLists } from '../../src/search/upkeep/feed-index.ts';
import { apply, compare } from '../support/search/by-the-book.ts';
import {
  type Cluster,
  feedSearch,
  obstacle,
  openSearchSettings,
  startCluster,
  startFedSearch,
} from '../support/search/open-search.ts';
import { arbitraryNow, arbitraryQuestion, sampleIndex } from '../support/values/arbitrary-index.ts';

const index = sampleIndex();
const questions = fc.sample(arbitraryQuestion, { seed: 20_261_116, numRuns: 12 });
const everything = { message: { intent: {} }, scope: {} };

describe.skipIf(obstacle)(`an index in OpenSearch (needs Java 17 and Maven)`, () => {
  let cluster: Cluster;
  let fed: Awaited<ReturnType<typeof startFedSearch>>;
  let now = arbitraryNow;
  let settings: Record<string, string>;

  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());
  beforeEach(async () => {
    now = arbitraryNow;
    settings = openSearchSettings(cluster.urls);
    fed = await startFedSearch(settings, () => now);
  });
  afterEach(() => fed.close());

  async function feed(): Promise<void> {
    const feeding = await feedSearch(fed.service);
    await feeding.catchUp().finally(feeding.close);
  }

  async function ask(path: string, method = 'GET', body?: object): Promise<object> {
    const headers = { 'content-type': 'application/json' };
    const request = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${cluster.urls[0]}${path}`, request);
    return (await response.json()) as object;
  }

  const count = async () => (await fed.service.search(everything)).answer.total;

  it('is answered with 503 until the first one is complete', async () => {
    await apply(fed.database, index);
    const refused = { code: 'NET_DOWNSTREAM_UNAVAILABLE', status: 503, retryAfterSeconds: 5 };
    await expect(fed.service.search(everything)).rejects.toMatchObject(refused);
    expect(await fed.service.lag()).toBeUndefined();
    await feed();
    expect(await count()).toBeGreaterThan(0);
  });

  it('is answered with 503 where no node of OpenSearch answers', async () => {
    const lost = await startFedSearch({ ...settings, OPENSEARCH_URL: 'http://127.0.0.1:1' });
    try {
      await lost.database.query("insert into discovery.external_index (name) values ('lost-1')");
      const refused = { code: 'NET_DOWNSTREAM_UNAVAILABLE', status: 503, retryAfterSeconds: 5 };
      await expect(lost.service.search(everything)).rejects.toMatchObject(refused);
    } finally {
      await lost.close();
    }
  });

  it('never shows what is gone or not served, however late it is fed', async () => {
    await apply(fed.database, index);
    await feed();
    const before = await count();
    const [removed, hidden] = index.filter(
      ({ type, catalog }) => type === 'REGULAR' && catalog.resources?.length,
    );
    const ref = { source: 'service:test', owner: removed?.owner ?? '', id: removed?.catalog.id ?? '' };
    await fed.database.transaction((tx) => writeIndex(tx, now, ({ remove }) => remove([ref])));
    await fed.database.query('update discovery.catalog set served = false where id = $1', [
      hidden?.catalog.id,
    ]);
    expect(await fed.service.lag()).toBeGreaterThan(0);
    const { answer } = await fed.service.search(everything);
    const shown = answer.ranking.map(({ catalogId }) => catalogId);
    expect(shown).not.toContain(removed?.catalog.id);
    expect(shown).not.toContain(hidden?.catalog.id);
    expect(answer.total).toBeLessThan(before);
    await feed();
    expect(await count()).toBe(answer.total);
  });

  it('follows what time alone changes', async () => {
    const [known] = index.filter(({ type, catalog }) => type === 'REGULAR' && catalog.resources?.length);
    const validity = { startDate: '2026-06-02' };
    const catalog = { ...known?.catalog, isActive: true, validity, id: 'later' } as never;
    await apply(fed.database, [{ owner: 'one.example/reg', networkIds: [], type: 'REGULAR', catalog }]);
    await feed();
    expect(await count()).toBe(0);
    now = new Date('2026-06-02T00:00:00Z');
    const feeding = await feedSearch(fed.service);
    await expect.poll(count).toBe(known?.catalog.resources?.length);
    await feeding.close();
  });

  it('is built beside the one that is searched, which goes on being fed', async () => {
    await apply(fed.database, index.slice(0, 6));
    await feed();
    const rebuilding = fed.index.rebuild();
    await apply(fed.database, index);
    const { documents } = await rebuilding;
    await feed();
    expect(documents).toBeGreaterThan(0);
    expect(Object.keys(await ask(`/${settings.OPENSEARCH_PREFIX}`))).toEqual([
      `${settings.OPENSEARCH_PREFIX}-2`,
    ]);
    for (const question of questions) await compare(fed.service, index, question);
    expect(await fed.index.check({ onDifference: () => undefined })).toMatchObject({ differences: 0 });
  });

  it('is completed while changes never end', async () => {
    await apply(fed.database, index);
    await feed();
    const touch = 'update discovery.catalog set head_digest = head_digest where id = $1';
    let isBuilding = true;
    const touching = (async () => {
      while (isBuilding) await fed.database.query(touch, [index[0]?.catalog.id]);
    })();
    await fed.index.rebuild().finally(() => {
      isBuilding = false;
    });
    await touching;
  });

  it('loses everything that was truncated', async () => {
    await apply(fed.database, index);
    await feed();
    await fed.database.query('truncate discovery.catalog cascade');
    await feed();
    expect(await count()).toBe(0);
    expect(await ask(`/${settings.OPENSEARCH_PREFIX}/_count`)).toMatchObject({ count: 0 });
  });

  it('is no longer searched without its words', async () => {
    await apply(fed.database, index);
    await feed();
    await ask(`/${settings.OPENSEARCH_PREFIX}-1-words`, 'DELETE');
    await fed.database.query("update discovery.external_index set name = null, building = 'other-2'");
    await expect(fed.service.search(everything)).rejects.toMatchObject({ status: 503 });
  });

  it('is compared with the documents, and mended', async () => {
    await apply(fed.database, index);
    await feed();
    const [first] = (await fed.service.search({ ...everything })).answer.ranking;
    const key = await fed.database.value<number>(
      'select resource.key from discovery.resource join discovery.catalog on catalog.key = catalog_key where resource.id = $1 and catalog.id = $2',
      [first?.resourceId, first?.catalogId],
    );
    const name = `${settings.OPENSEARCH_PREFIX}-1`;
    await ask(`/${name}/_doc/${key}?refresh=true`, 'DELETE');
    await ask(`/${name}/_doc/${key + 1_000}?refresh=true`, 'PUT', {
      key: key + 1_000,
      catalog: 1,
      digest: 1,
    });
    const found: object[] = [];
    const checked = await fed.index.check({ mend: true, onDifference: (each) => void found.push(each) });
    expect(found).toEqual([
      expect.objectContaining({ kind: 'missing', key }),
      expect.objectContaining({ kind: 'surplus', key: key + 1_000 }),
    ]);
    expect(checked).toMatchObject({ differences: 2, mended: 2 });
    expect(await fed.index.check({ onDifference: () => undefined })).toMatchObject({ differences: 0 });
    for (const question of questions) await compare(fed.service, index, question);
  });

  it('is built again when OpenSearch has lost it', async () => {
    await apply(fed.database, index.slice(0, 6));
    await feed();
    const name = `${settings.OPENSEARCH_PREFIX}-1`;
    await ask(`/${name},${name}-words`, 'DELETE');
    await apply(fed.database, index);
    await feed();
    expect(Object.keys(await ask(`/${settings.OPENSEARCH_PREFIX}`))).toEqual([
      `${settings.OPENSEARCH_PREFIX}-2`,
    ]);
    for (const question of questions) await compare(fed.service, index, question);
  });

  it('is fed on when the switch to it was not noted', async () => {
    await apply(fed.database, index.slice(0, 6));
    await feed();
    await fed.index.rebuild();
    const prefix = settings.OPENSEARCH_PREFIX;
    await fed.database.query(
      'update discovery.external_index set name = $1, building = $2, walked_up_to = 0',
      [`${prefix}-1`, `${prefix}-2`],
    );
    await apply(fed.database, index);
    await feed();
    const select = 'select name from discovery.external_index';
    expect(await fed.database.value(select)).toBe(`${prefix}-2`);
    for (const question of questions) await compare(fed.service, index, question);
  });

  it('goes on without a document that OpenSearch refuses', async () => {
    const client = connectOpenSearch(fed.config);
    const name = await createIndexes(client, []);
    const refused = await writeBulk(client, name, [
      '{"index":{"_id":"1"}}\n{"unknown":true}',
      '{"index":{"_id":"2"}}\n{"key":2}',
    ]);
    expect(refused).toEqual([expect.stringMatching(/^1: .*unknown/)]);
    expect(await ask(`/${name}/_doc/2`)).toMatchObject({ found: true });
    await client.close();
  });

  it('takes the place of the lists when nobody reads these, and gives it back', async () => {
    await apply(fed.database, index.slice(0, 6));
    await feed();
    await retireLists(fed.database);
    const states = () => fed.database.column('select state from discovery.generation order by number');
    expect(await states()).toEqual(['retired']);
    await apply(fed.database, index);
    await feed();
    for (const question of questions) await compare(fed.service, index, question);
    const runs =
      'select count(*) from index_1.run where first >= (select max(key) << 26 from discovery.catalog)';
    expect(await fed.database.value(runs)).toBe(0);

    const back = await startBack();
    await back.rebuild();
    expect(await states()).toEqual(['retired', 'in use']);
    for (const question of questions) await compare(back.service, index, question);
    expect(await back.check()).toMatchObject({ differences: 0 });
  });

  async function startBack() {
    const { createSearch, maintainIndex } = await import('../../src/search/port.ts');
    const { readConfig } = await import('../../src/config.ts');
    const { database, threads } = fed;
    const lists = maintainIndex(database);
    return {
      service: createSearch({ config: readConfig({}), database, threads, now: () => now }),
      rebuild: () => lists.rebuild(),
      check: () => lists.check({ onDifference: () => undefined }),
    };
  }

  it('says why something is found, and what came close where nothing is', async () => {
    await apply(fed.database, index);
    await feed();
    const textSearch = 'tea charger';
    const { answer } = await fed.service.search({ message: { intent: { textSearch } }, scope: {} });
    const [found] = answer.ranking;
    const asked = { id: found?.resourceId ?? '', catalogId: found?.catalogId ?? '' };
    const why = await fed.service.why({ message: { intent: { textSearch } }, scope: {} }, asked);
    expect(why.rank).toBe(1);
    const targets = '$.catalogs[*].resources[*].nowhere';
    const geometry = { type: 'Point' as const, coordinates: [10, 50] };
    const spatial = [{ op: 'S_DWITHIN' as const, targets, geometry, distanceMeters: 1_000 }];
    const { steps } = await fed.service.explain({ message: { intent: { spatial } as never }, scope: {} });
    expect(steps).toContainEqual(expect.objectContaining({ step: 'near miss', code: 'unknown-target' }));
  });
});
