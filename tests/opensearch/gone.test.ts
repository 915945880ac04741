import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/search/opensearch/client.ts';
import { listIndexes } from '../../src/search/opensearch/index-rows.ts';
import { type Line, openLine } from '../support/database/severed-line.ts';
import { type Discovering, filter, resourceIds, startDiscovering } from '../support/network/discover.ts';
import { needs, obstacle, openSearchSettings, useOpenSearch } from '../support/search/opensearch.ts';
import { until } from '../support/time.ts';

describe.skipIf(obstacle)(`an OpenSearch of several nodes${needs}`, () => {
  let url = '';
  useOpenSearch((running) => {
    url = running;
  });

  it('is asked and written by another node when one is gone', async () => {
    const line = await openLine(url);
    const client = createClient([line.url, url]);
    const name = `signpost-test-${randomUUID()}`;
    try {
      await client.createIndex(name);
      await line.cut();
      for (let times = 0; times < 4; times++) expect(await client.exists(name)).toBe(true);
      await client.write(name, 1, { written: [], removed: [1] });
      expect(client.problem()).toBeUndefined();
    } finally {
      await client.deleteIndex(name);
      await client.close();
      await line.close();
    }
  });
});

const lamps = filter('$.catalogs[*].resources[?@.kind == "lamp"]');
const lamp = (id: string) => ({ id, kind: 'lamp', descriptor: { name: 'Lamp' } });

describe.skipIf(obstacle).each([
  ['opensearch', 503],
  ['postgres,opensearch', 200],
])(`OpenSearch that goes and comes back, with SEARCH_INDEX=%s${needs}`, (names, status) => {
  let url = '';
  let line: Line;
  let discovering: Discovering;
  useOpenSearch((running) => {
    url = running;
  });
  beforeAll(async () => {
    line = await openLine(url);
    discovering = await startDiscovering({ settings: openSearchSettings(line.url, names) });
    await discovering.hold([{ id: 'lamps', resources: [lamp('first')] }]);
    await inStep();
  });
  afterAll(async () => {
    await discovering.network.close();
    await line.close();
  });

  const inStep = () =>
    until(async () => {
      const { rows } = await discovering.network.database.query<{ known: boolean }>(
        `select is_current and not exists (
           select from discovery.document_change where not pg_visible_in_snapshot(xid, snapshot)) as known from discovery.opensearch_index`,
      );
      return rows[0]?.known;
    }, 'OpenSearch to catch up');
  const ready = async () => {
    const response = await fetch(`${discovering.network.discoveryUrl}/ready`);
    return { status: response.status, body: await response.text() };
  };

  it('answers from OpenSearch while it is there, and says so at /ready', async () => {
    expect(resourceIds(await discovering.found(lamps))).toEqual(['first']);
    expect(await ready()).toMatchObject({
      status: 200,
      body: expect.stringContaining('"opensearch":"answers"'),
    });
  });

  it('says at /ready that it is gone, and answers as the setting says', async () => {
    await line.cut();
    await until(async () => (await ready()).body.includes('does not answer'), '/ready to tell');
    expect((await ready()).status).toBe(status);
    if (status === 200) expect(resourceIds(await discovering.found(lamps))).toEqual(['first']);
    else {
      const refused = await discovering.discover(lamps);
      expect(refused).toMatchObject({
        status: 503,
        body: { message: { error: { code: 'NET_DOWNSTREAM_UNAVAILABLE' } } },
      });
      expect(refused.headers.get('retry-after')).toBe('2');
    }
  });

  it('takes pushes meanwhile, and catches up by itself', async () => {
    await discovering.hold([{ id: 'lamps', resources: [lamp('first'), lamp('second')] }]);
    await line.mend();
    await until(async () => (await ready()).body.includes('"opensearch":"answers"'), 'OpenSearch to be back');
    expect(resourceIds(await discovering.found(lamps))).toEqual(['first', 'second']);
    await inStep();
    expect(resourceIds(await discovering.found(lamps))).toEqual(['first', 'second']);
  });

  it('builds another index when OpenSearch has lost it', async () => {
    const { database } = discovering.network;
    const [lost] = await listIndexes(database);
    const client = createClient([url]);
    await client.deleteIndex(lost?.name ?? '');
    await client.close();
    await until(
      async () =>
        (await listIndexes(database)).some(({ name, isCurrent }) => isCurrent && name !== lost?.name),
      'another index',
    );
    expect(resourceIds(await discovering.found(lamps))).toEqual(['first', 'second']);
  });
});
