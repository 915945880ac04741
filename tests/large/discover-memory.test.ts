import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import type { Catalog, Resource } from '../../src/protocol/catalog.ts';
import type { Intent } from '../../src/protocol/discover-messages.ts';
import { createDeadline, createSearch, type SearchService, writeIndex } from '../../src/search/port.ts';
import { type Database, openDatabase, type Transaction } from '../../src/storage/database.ts';
import { Stale } from '../../src/storage/freshness.ts';
import { DatabaseUnavailable } from '../../src/storage/unavailable.ts';
import { createThreadPool, type ThreadPool } from '../../src/thread-pool.ts';
import { catalog } from '../support/catalogs/sample-catalogs.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/database.ts';
import { patienceMs } from '../support/patience.ts';
import { takeTime } from '../support/time.ts';

// Processes cache parts of the index. Here several writers change catalogs at the same time, each its own, which all occur in the same lists; two
// processes answer. Before a commit they must find the old state, and right after it the new one. One property, with its environment, so longer than
// our other tests.

const writers = 4;
const steps = 10;
const histories = 2;
const network = 'net.example/one';

let home: TestDatabase;
let database: Database;
let threads: ThreadPool;
interface Process {
  database: Database;
  service: SearchService;
}
let processes: Process[] = [];
beforeAll(async () => {
  home = await createTestDatabase();
  const logger = silentLogger();
  const open = () => openDatabase({ url: home.url, logger, maxConnections: writers });
  database = await open();
  threads = createThreadPool({ size: 1, logger });
  // The test is not about the deadline, and a busy machine is slow.
  const config = readConfig({ DISCOVER_TIMEOUT_MS: '50000' });
  const start = (opened: Database): Process => {
    const slow = slowed(opened);
    return {
      database: slow,
      service: createSearch({ config, threads, database: slow, now: () => new Date() }),
    };
  };
  processes = [start(await open()), start(await open())];
});
afterAll(async () => {
  await threads.close();
  for (const each of [...processes, { database }]) await each.database.close();
  await home.drop();
});

/** Delays answers by different times: meanwhile others commit and search. */
function slowed(opened: Database): Database {
  let answers = 0;
  const query: Database['query'] = async (...asked) => {
    const answer = await opened.query(...asked);
    await takeTime((answers++ * 7) % 11);
    return answer as never;
  };
  return Object.create(opened, { query: { value: query } });
}

it('whatever several writers commit, the next search of any process finds, and nothing else', async () => {
  const arbitraryHistories = fc.array(fc.array(arbitraryStep, { minLength: steps, maxLength: steps }), {
    ...{ minLength: writers, maxLength: writers },
  });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(arbitraryHistories, async (all) => {
      run++;
      await Promise.all(all.map((history, index) => write(`w${run}-${index}`, history)));
    }),
    { numRuns: histories, endOnFailure: true },
  );
});

/** A resource, with the values that questions can ask for. */
interface Item {
  isOn: boolean;
  price: number;
  isBrass: boolean;
  isNear: boolean;
}

interface Step {
  kind:
    | 'replace'
    | 'add'
    | 'edit'
    | 'pause'
    | 'expire'
    | 'move'
    | 'withdraw'
    | 'remove'
    | 'fail'
    | 'lose a connection';
  items: Item[];
  /** The index of the question. */
  asked: number;
}

const arbitraryStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom<Step['kind'][]>(
    ...([
      'replace',
      'replace',
      'add',
      'add',
      'edit',
      'edit',
      'pause',
      'expire',
      'move',
      'withdraw',
      'remove',
    ] as const),
    ...(['fail', 'lose a connection'] as const),
  ),
  items: fc.array(
    fc.record({ isOn: fc.boolean(), price: fc.nat(99), isBrass: fc.boolean(), isNear: fc.boolean() }),
    { minLength: 1, maxLength: 3 },
  ),
  asked: fc.nat(),
});

/** The expected catalog of a writer. */
interface Shelf {
  items: ReadonlyMap<string, Item>;
  /** The reasons why it cannot be found. */
  hidden: readonly Step['kind'][];
}

const empty: Shelf = { items: new Map(), hidden: [] };

async function write(id: string, history: readonly Step[]): Promise<void> {
  let shelf = empty;
  for (const [stepIndex, step] of history.entries()) {
    const ids =
      step.kind === 'edit'
        ? [...shelf.items.keys()]
        : step.items.map((_, index) => `${id}-${stepIndex}-${index}`);
    const items = new Map(step.items.slice(0, ids.length).map((item, index) => [ids[index] as string, item]));
    const after = changed(shelf, step, items);
    const before = shelf;
    const work = database.transaction(async (tx) => {
      await change(tx, id, step, items);
      await check(id, before, step, [stepIndex % processes.length]);
      if (step.kind === 'fail') throw new Error('it fails');
    });
    if (step.kind === 'fail') await expect(work).rejects.toThrow('it fails');
    else await work;
    shelf = after;
    // Also the search after the next one: an invalidation may have been too late for the first.
    await check(id, shelf, step, [0, 1, 0]);
  }
}

function changed({ items: known, hidden }: Shelf, { kind }: Step, items: Shelf['items']): Shelf {
  // Any new content of a catalog names its networks, and says that it is active.
  const stillHidden = hidden.filter((by) => by !== 'move' && by !== 'withdraw');
  if (kind === 'replace') return { items, hidden: [] };
  if (kind === 'add' || kind === 'edit') return { items: new Map([...known, ...items]), hidden: stillHidden };
  if (kind === 'remove') return empty;
  if (kind === 'withdraw') return { items: known, hidden: [...hidden, kind] };
  if (kind === 'fail' || kind === 'lose a connection') return { items: known, hidden };
  return { items: known, hidden: [...stillHidden, kind] };
}

async function change(tx: Transaction, id: string, { kind }: Step, items: Shelf['items']): Promise<void> {
  const ref = { source: 'node', owner: 'provider.example/reg', id };
  const apply = (members: Partial<Catalog>, mode: 'FULL' | 'MERGE', networks: string[] = [network]) =>
    writeIndex(tx, new Date(), ({ apply }) =>
      apply([
        {
          ...{ ...ref, type: 'REGULAR', networks, mode },
          catalog: catalog(id, { resources: [], provider, ...members }),
        },
      ]),
    );
  const resources = Array.from(items, ([key, item]) => resourceOf(key, item));
  switch (kind) {
    case 'fail':
    case 'replace':
      return void (await apply({ resources, isActive: true, validity: {} }, 'FULL'));
    case 'add':
    case 'edit':
      return void (await apply({ resources }, 'MERGE'));
    case 'pause':
      return void (await apply({ isActive: false }, 'MERGE'));
    case 'expire':
      return void (await apply({ validity: { endDate: '2020-01-01' } }, 'MERGE'));
    case 'move':
      return void (await apply({}, 'MERGE', ['net.example/two']));
    case 'withdraw':
      return void (await tx.query('update discovery.catalog set served = false where id = $1', [id]));
    case 'remove':
      return writeIndex(tx, new Date(), ({ remove }) => remove([ref]));
  }
}

const provider = {
  ...{ id: 'p', descriptor: { name: 'P' } },
  availableAt: [{ geo: { type: 'Point' as const, coordinates: [77.6, 13] as [number, number] } }],
};

function resourceOf(id: string, { isOn, price, isBrass, isNear }: Item): Lamp {
  const name = isBrass ? 'Brass lamp' : 'Copper lamp';
  const geo = { type: 'Point', coordinates: isNear ? [77.6, 13] : [77.7, 13] };
  return { id, descriptor: { name }, state: isOn ? 'on' : 'off', price, geo };
}

type Lamp = Resource & { state?: string; price?: number; geo?: object };

function describe({ id, descriptor, state, price }: Lamp): string {
  return `${id}: ${descriptor?.name}, ${state}, ${price}`;
}

const questions: { intent: Intent; finds(item: Item): boolean }[] = [
  { intent: filter('@.state == "on"'), finds: ({ isOn }) => isOn },
  { intent: filter('@.price >= 50'), finds: ({ price }) => price >= 50 },
  { intent: filter('@.state == "off" && @.price < 70'), finds: ({ isOn, price }) => !isOn && price < 70 },
  { intent: filter('length(@.state) == 2'), finds: ({ isOn }) => isOn },
  { intent: { textSearch: 'brass' }, finds: ({ isBrass }) => isBrass },
  { intent: { textSearch: 'lamp' }, finds: () => true },
  { intent: near(), finds: ({ isNear }) => isNear },
  {
    intent: { ...near(), ...filter('@.price >= 50') },
    finds: ({ isNear, price }) => isNear && price >= 50,
  },
  {
    intent: { ...near('$.catalogs[*].provider.availableAt[*].geo'), ...filter('@.price < 50') },
    finds: ({ price }) => price < 50,
  },
  {
    intent: { ...near(), ...filter('@.state == "on"'), textSearch: 'brass' },
    finds: ({ isNear, isOn, isBrass }) => isNear && isOn && isBrass,
  },
];

function near(targets = '$.catalogs[*].resources[*].geo'): Intent {
  const geometry = { type: 'Point' as const, coordinates: [77.59, 13] as [number, number] };
  return {
    spatial: [{ op: 'S_DWITHIN', targets, geometry, distanceMeters: 3_000 }],
  };
}

function filter(condition: string): Intent {
  return { filters: { type: 'jsonpath', expression: `$.catalogs[*].resources[?${condition}]` } };
}

/** Expects each of these processes to find exactly this writer's resources. */
async function check(id: string, shelf: Shelf, step: Step, indexes: readonly number[]): Promise<void> {
  for (const index of indexes) {
    const { intent, finds } = questions[step.asked % questions.length] as (typeof questions)[0];
    const expected = [...shelf.items].flatMap(([key, item]) =>
      shelf.hidden.length === 0 && finds(item) ? describe(resourceOf(key, item)) : [],
    );
    const [found] = await Promise.all([
      find(processes[index] as Process, intent),
      step.kind === 'lose a connection' && loseConnection((processes[index] as Process).database),
    ]);
    const own = found.filter((key) => key.startsWith(`${id}-`));
    expect({ intent, own: own.sort() }).toEqual({ intent, own: expected.sort() });
  }
}

async function find({ service }: Process, intent: Intent): Promise<string[]> {
  const question = { message: { intent, limit: 1_000 }, scope: { networkId: network } };
  const { answer } = await patiently(async () => {
    const found = await service.search(question, { optimistic: true });
    try {
      await service.confirm(found, createDeadline(patienceMs));
      return found;
    } catch (error) {
      if (!(error instanceof Stale)) throw error;
      return await service.search(question);
    }
  });
  const catalogs: Catalog[] = JSON.parse(answer.catalogs);
  return catalogs.flatMap(({ resources = [] }) => resources.map(describe));
}

/** Ends one of its connections. */
async function loseConnection(lossy: Database): Promise<void> {
  const { rows } = await patiently(() => lossy.query<{ pid: number }>('select pg_backend_pid() as pid'));
  await database.query('select pg_terminate_backend($1, 1000)', [rows[0]?.pid]);
}

/** Retries if the connection was ended. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || attempt === maxAttempts) throw error;
    }
  }
}

const maxAttempts = 10;
