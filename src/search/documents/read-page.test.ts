import { describe, expect, it } from 'vitest';
import { catalog } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useProcesses } from '../../../tests/support/processes/processes.ts';
import type { SearchingProcess } from '../../../tests/support/search/index-reader.ts';
import type { Catalog, Offer } from '../../protocol/catalog.ts';
import type { Database } from '../../storage/database.ts';
import { refreshCaches } from '../cache/invalidation.ts';
import { readPassing } from '../filter/check-documents.ts';
import { writeIndex } from '../write/write-index.ts';
import { keyOf } from './keys.ts';
import { type ListQuery, readListed, SharedDocuments } from './read-page.ts';

const now = new Date('2026-06-01T12:00:00Z');

let writer: Database;
/** A process that remembers. */
let reader: SearchingProcess;
const watched = useProcesses(
  (...opened) => {
    [writer, reader] = opened;
  },
  {
    emptied: 'discovery.run, discovery.catalog, discovery.resource, discovery.offer, discovery.offer_target',
  },
);

const provider = (id: string) => ({ provider: { id, descriptor: { name: id } } });

/** Returns the key of the catalog. */
async function publish(
  id: string,
  members: Partial<Catalog>,
  owner = 'provider.example/reg',
): Promise<number> {
  const incoming = { source: 'node', owner, type: 'REGULAR', networks: [], mode: 'FULL' } as const;
  const [applied] = await writer.transaction((tx) =>
    writeIndex(tx, now, ({ apply }) =>
      apply([{ ...incoming, catalog: catalog(id, { resources: [], ...provider('p'), ...members }) }]),
    ),
  );
  return applied?.key ?? 0;
}

interface Listed {
  catalog: string;
  resource: string;
  offers: string[];
}

/** What a search that begins now lists of these resources, and how many statements it takes, apart from catching up. */
async function list(
  keys: readonly number[],
  query: Partial<ListQuery> & { atMost?: number; offset?: number; limit?: number } = {},
): Promise<{ listed: Listed[]; read: number; count: number }> {
  await refreshCaches(reader);
  watched.statements = 0;
  const { atMost = 1_000, offset = 0, limit = 100, scope = { now, schemaContext: [] }, check } = query;
  const passed = await readPassing(reader, { keys }, atMost);
  const page = passed.slice(offset, offset + limit);
  const { found } = await readListed(reader, page, { scope, check }, new SharedDocuments());
  // Of a document, or of several with commas between them.
  const namesOf = (text: string): string[] =>
    JSON.parse(`[${text}]`).map((each: Offer) => each.descriptor?.name ?? each.id);
  const nameOf = (text: string) => namesOf(text)[0] ?? '';
  const listed = found.map(({ catalog, resource, offers, wide }) => ({
    catalog: nameOf(catalog.text),
    resource: nameOf(resource.text),
    offers: [...offers, ...(wide?.offers ?? [])].flatMap(({ text }) => namesOf(text)),
  }));
  return { listed, read: watched.statements, count: passed.length };
}

const resource = (id: string, name = id) => ({ id, descriptor: { name } });
const offer = (id: string, members: Partial<Offer> = {}): Offer => ({
  id,
  descriptor: { name: id },
  ...members,
});

describe('a page of an answer', () => {
  it('is read by one statement, in the order of the answer', async () => {
    const key = await publish('c', { resources: [resource('a'), resource('b')], offers: [offer('o')] });
    const keys = [keyOf(key, 2), keyOf(key, 1)];
    const first = await list(keys);
    expect(first.listed.map((each) => each.resource)).toEqual(['b', 'a']);
    expect(first.listed.map((each) => each.offers)).toEqual([['o'], ['o']]);
    expect(first.read).toBe(1);
  });

  it('lists what a resource and its catalog have become', async () => {
    const key = await publish('c', { resources: [resource('a', 'before')] });
    expect((await list([keyOf(key, 1)])).listed).toMatchObject([{ resource: 'before' }]);
    await publish('c', { resources: [resource('a', 'after')], descriptor: { name: 'renamed' } });
    expect((await list([keyOf(key, 1)])).listed).toMatchObject([{ catalog: 'renamed', resource: 'after' }]);
    await publish('c', { resources: [] });
    expect((await list([keyOf(key, 1)])).listed).toEqual([]);
  });

  it('lists offers while they are valid', async () => {
    const noon = { startTime: '11:00:00', endTime: '13:00:00' };
    const offers = [
      offer('june', { validity: { startDate: '2026-06-01', endDate: '2026-06-30' } }),
      offer('noon', { resourceIds: ['a'], validity: noon }),
      offer('always', { resourceIds: ['a', 'b'] }),
    ];
    const key = await publish('c', { resources: [resource('a'), resource('b')], offers });
    const keys = [keyOf(key, 1), keyOf(key, 2)];
    const at = async (time: string) => {
      const { listed } = await list(keys, { scope: { now: new Date(time), schemaContext: [] } });
      return listed.map((each) => each.offers);
    };
    expect(await at('2026-07-01T15:00:00Z')).toEqual([['always'], ['always']]);
    expect(await at('2026-06-01T12:00:00Z')).toEqual([
      ['noon', 'always', 'june'],
      ['always', 'june'],
    ]);
  });

  it('lists offers of other catalogs of the owner from when they come until they go', async () => {
    const key = await publish('c', { resources: [resource('a')], offers: [offer('own')] });
    const offersOf = async () => (await list([keyOf(key, 1)])).listed[0]?.offers.sort();
    expect(await offersOf()).toEqual(['own']);
    await publish('d', { offers: [offer('named', { resourceIds: ['a'] }), offer('wide')] });
    expect(await offersOf()).toEqual(['named', 'own', 'wide']);
    await publish('d', { offers: [offer('named', { resourceIds: ['a'] }), offer('wide')], isActive: false });
    expect(await offersOf()).toEqual(['own']);
    await publish('d', { offers: [offer('own')] });
    expect((await list([keyOf(key, 1)])).listed[0]?.offers).toEqual(['own']);
    await publish('d', { offers: [offer('named', { resourceIds: ['a'] })] }, 'stranger.example/reg');
    expect(await offersOf()).toEqual(['own']);
  });

  it('asks who else is served only for catalogs that list offers of others, or many or long ones', async () => {
    const few = [offer('named', { resourceIds: ['a'] }), offer('wide')];
    const many = Array.from({ length: 21 }, (_, number) => offer(`m${String(number).padStart(2, '0')}`));
    const named = many.map((each) => ({ ...each, resourceIds: ['n'] }));
    const long = [offer('long', { descriptor: { name: 'long', longDesc: 'x'.repeat(10_000) } })];
    const catalogs = {
      few: await publish('few', { resources: [resource('a')], offers: few, ...provider('few') }),
      many: await publish('many', { resources: [resource('m')], offers: many, ...provider('many') }),
      named: await publish('named', { resources: [resource('n')], offers: named, ...provider('named') }),
      long: await publish('long', { resources: [resource('l')], offers: long, ...provider('long') }),
      shared: await publish('shared', { resources: [resource('s')], ...provider('shared') }),
    };
    await publish('other', { offers: [offer('o', { resourceIds: ['s'] })] });
    const keysOf = (...names: (keyof typeof catalogs)[]) => names.map((name) => keyOf(catalogs[name], 1));
    const all = await list(keysOf('long', 'few', 'shared', 'named', 'many'));
    const names = many.map(({ id }) => id);
    expect(all.listed.map((each) => each.offers)).toEqual([
      ...[['long'], ['named', 'wide'], ['o'], names, names],
    ]);
    expect(all.read).toBe(2);
    expect((await list(keysOf('few'))).read).toBe(1);
    for (const name of ['many', 'named', 'long', 'shared'] as const)
      expect((await list(keysOf(name))).read, name).toBe(2);
  });

  it('lists of two catalogs of a provider, each with an offer of the same id, its own one', async () => {
    const publishSame = (id: string) =>
      publish(id, {
        resources: [resource(id)],
        offers: [offer('same', { descriptor: { name: `of ${id}` } })],
      });
    const keys = [keyOf(await publishSame('c'), 1), keyOf(await publishSame('d'), 1)];
    expect((await list(keys)).listed.map((each) => each.offers)).toEqual([['of c'], ['of d']]);
  });

  it('knows that an offer moved with its catalog to another provider', async () => {
    const key = await publish('c', { resources: [resource('a')] });
    await publish('d', { offers: [offer('wide')], ...provider('q') });
    const offersOf = async () => (await list([keyOf(key, 1)])).listed[0]?.offers;
    expect(await offersOf()).toEqual([]);
    await publish('d', { offers: [offer('wide')], ...provider('p') });
    expect(await offersOf()).toEqual(['wide']);
  });

  it('leaves out what does not satisfy what it must', async () => {
    const key = await publish('c', { resources: [resource('a'), resource('b')] });
    const keys = [keyOf(key, 1), keyOf(key, 2)];
    const names = async (check?: ListQuery['check']) =>
      (await list(keys, { check })).listed.map((each) => each.resource);
    expect(await names()).toEqual(['a', 'b']);
    expect(await names({ strict: '$.id == "b"' })).toEqual(['b']);
  });

  it('counts and lists all resources of a catalog that is named by its own key', async () => {
    const c = await publish('c', { resources: [resource('a'), resource('b')] });
    const d = await publish('d', { resources: [resource('e')] });
    const keys = [keyOf(d, 0), keyOf(c, 2), keyOf(c, 0)];
    const query = { offset: 1, limit: 1 };
    expect(await list(keys, query)).toMatchObject({ count: 3, read: 2, listed: [{ resource: 'b' }] });
    expect(await list(keys, query)).toMatchObject({ count: 3, read: 1 });
    await publish('d', { resources: [resource('e'), resource('f')] });
    expect(await list(keys, { ...query, atMost: 3 })).toMatchObject({
      count: 3,
      listed: [{ resource: 'f' }],
    });
    expect(await list(keys, { ...query, limit: 9 })).toMatchObject({ count: 4 });
    const many = Array.from({ length: 1_200 }, (_, number) => resource(`r${number}`));
    await publish('d', { resources: many });
    for (let times = 0; times < 2; times++) {
      const { count, read } = await list(keys, { ...query, atMost: 1_100, offset: 1_098 });
      expect({ count, read }).toEqual({ count: 1_100, read: times === 0 ? 3 : 2 });
    }
    expect(await list(keys, query)).toMatchObject({ count: 1_000 });
    expect(await list(keys, { ...query, atMost: 2_000 })).toMatchObject({ count: 1_202 });
  });
});
