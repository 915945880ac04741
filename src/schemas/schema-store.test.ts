import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { patienceMs } from '../../tests/support/patience.ts';
import { readConfig } from '../config.ts';
import { createGuardedClient, type GuardedClient } from '../http/guarded-client.ts';
import { silentLogger } from '../logger.ts';
import { openSchemaStore, type SchemaStore } from './schema-store.ts';

const logger = silentLogger();
const patience = { timeout: patienceMs };
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'schema-store-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

async function put(path: string, content: unknown): Promise<void> {
  const file = join(directory, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
}

function faultPaths(store: SchemaStore, context: string, type: string): (string | undefined)[] {
  return store
    .checker()
    .check({ '@context': context, '@type': type })
    .map(({ details }) => details?.path);
}

describe('schemas on disk', () => {
  const coffee = 'https://schema.nfh.global/Coffee/v1/context.jsonld';

  async function open() {
    return openSchemaStore({ logger, schemaDir: directory });
  }

  it('come with the package without any setting', async () => {
    const store = await openSchemaStore({ logger });
    expect(store.checker().types.map(({ type }) => type)).toContain('EnergyResourceEVCharger');
  });

  it('are found at <Type>/<version>/schema.json', async () => {
    await put('Coffee/v1/schema.json', { required: ['origin'] });
    await put('Coffee/v1/context.jsonld', '{"@context":{}}');
    await put('Coffee/v1/examples/bad.json', '[]');
    expect(faultPaths(await open(), coffee, 'Coffee')).toEqual(['$.origin']);
  });

  it('are found at <Type>/<version>/attributes.yaml', async () => {
    await put(
      'deep/Coffee/1/attributes.yaml',
      'openapi: 3.1.1\ncomponents:\n  schemas:\n    Coffee:\n      required: [origin]\n',
    );
    expect(faultPaths(await open(), coffee, 'Coffee')).toEqual(['$.origin']);
  });

  it('are schema.json where both stand side by side', async () => {
    await put('Coffee/v1/attributes.yaml', 'components: { schemas: { Coffee: { required: [yaml] } } }');
    await put('Coffee/v1/schema.json', { required: ['json'] });
    expect(faultPaths(await open(), coffee, 'Coffee')).toEqual(['$.json']);
  });

  it('are found anywhere by their $id', async () => {
    await put('anything.json', { $id: 'https://own.example/things/coffee', required: ['origin'] });
    expect(faultPaths(await open(), 'https://own.example/things/coffee', 'Whatever')).toEqual(['$.origin']);
  });

  it("are the operator's where a bundled one has the same address", async () => {
    await put('EnergyResource/v1.1/schema.json', { required: ['owner'] });
    const store = await open();
    expect(
      faultPaths(store, 'https://schema.nfh.global/EnergyResource/v1.1/context.jsonld', 'EnergyResource'),
    ).toEqual(['$.owner']);
    expect(store.checker().problems).toEqual([]);
  });

  it.each([
    ['Coffee/v1/schema.json', '{"a":1,"a":2}'],
    ['Coffee/v1/schema.json', '[]'],
    ['Coffee/v1/attributes.yaml', 'a: [1'],
  ])('that cannot be read are named: %s with %s', async (path, content) => {
    await put(path, content);
    await expect(open()).rejects.toThrow(join(directory, path));
  });
});

it('SCHEMA_DIR may be a clone of the public repository: files that are no schemas are skipped with one line', async () => {
  const clone: [string, unknown][] = [
    ['schema/Coffee/v1/attributes.yaml', 'components:\n  schemas:\n    Coffee:\n      required: [origin]\n'],
    ['schema/Coffee/v1/profile.json', { name: 'Coffee' }],
    ['schema/Coffee/schema.json', {}],
    ['anything.json', { $id: 'relative' }],
    ['tsconfig.json', '{ // a comment'],
    ['.github/workflows/check.yml', 'on: push'],
  ];
  for (const [path, content] of clone) await put(path, content);
  const lines: Record<string, unknown>[] = [];
  const told = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const store = await openSchemaStore({ logger: told, schemaDir: directory });
  const context = 'https://raw.githubusercontent.com/beckn/schemas/main/schema/Coffee/v1/context.jsonld';
  expect(faultPaths(store, context, 'Coffee')).toEqual(['$.origin']);
  expect(lines).toMatchObject([{ count: 5, msg: 'skipped files of SCHEMA_DIR that are not schemas' }]);
});

it('SCHEMA_ALIASES lead to a schema before one of the same type and version elsewhere, in contexts and in references', async () => {
  await put('Coffee/v1/schema.json', {
    required: ['origin'],
    $ref: 'https://mirror.example/Cup/v1/schema.json',
  });
  await put('Cup/v1/schema.json', { required: ['size'] });
  await put('other.json', { $id: 'https://zz.example/Coffee/v1/schema.json', required: ['other'] });
  const { SCHEMA_ALIASES: aliases } = readConfig({
    SCHEMA_ALIASES: '{"https://mirror.example": "https://schema.beckn.io/"}',
  });
  const mirrored = 'https://mirror.example/Coffee/v1/context.jsonld';
  const store = await openSchemaStore({ logger, schemaDir: directory, aliases });
  expect(faultPaths(store, mirrored, 'Coffee').sort()).toEqual(['$.origin', '$.size']);
  const { types, problems } = (await openSchemaStore({ logger, schemaDir: directory })).checker();
  expect(types.map(({ type }) => type)).toContain('Cup');
  expect(problems).toMatchObject([
    { type: 'Coffee', reason: expect.stringContaining('mirror.example/Cup/v1') },
  ]);
});

describe('schemas of unknown contexts', () => {
  let server: Server;
  let client: GuardedClient;
  let host: string;
  let requests: string[];
  let files: Record<string, string>;

  beforeEach(async () => {
    requests = [];
    files = {};
    server = createServer((request, response) => {
      requests.push(request.url ?? '');
      const file = files[request.url ?? ''];
      response.writeHead(file === undefined ? 404 : 200).end(file);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    client = createGuardedClient({ allowPrivateAddresses: true });
  });

  afterEach(async () => {
    await client.close();
    await new Promise((resolve) => server.close(resolve));
  });

  function open(hosts = [host]) {
    return openSchemaStore({ logger, fetch: { hosts, client, cacheDir: join(directory, 'kept') } });
  }

  it('are fetched after the first question, never during it, and then kept', async () => {
    files['/Coffee/v1/schema.json'] = JSON.stringify({ required: ['origin'] });
    const context = `http://${host}/Coffee/v1/context.jsonld`;
    const store = await open();
    expect(faultPaths(store, context, 'Coffee')).toEqual([]);
    expect(requests).toEqual([]);
    await expect.poll(() => faultPaths(store, context, 'Coffee'), patience).toEqual(['$.origin']);
    await store.close();

    requests = [];
    const again = await open();
    expect(faultPaths(again, context, 'Coffee')).toEqual(['$.origin']);
    expect(requests).toEqual([]);
    await again.close();
  });

  it('are also read as attributes.yaml, with the documents that they refer to', async () => {
    files['/Coffee/v1/attributes.yaml'] =
      'components: { schemas: { Coffee: { $ref: "../../Drink/v1/attributes.yaml#/components/schemas/Drink" } } }';
    files['/Drink/v1/attributes.yaml'] = 'components: { schemas: { Drink: { required: [litres] } } }';
    const store = await open();
    const context = `http://${host}/Coffee/v1/context.jsonld`;
    faultPaths(store, context, 'Coffee');
    await expect.poll(() => faultPaths(store, context, 'Coffee'), patience).toEqual(['$.litres']);
    await store.close();
  });

  it('are asked for once, however often they are missed', async () => {
    const store = await open();
    for (let index = 0; index < 50; index += 1)
      faultPaths(store, `http://${host}/Tea/v1/context.jsonld`, 'Tea');
    await expect.poll(() => requests, patience).toEqual(['/Tea/v1/schema.json', '/Tea/v1/attributes.yaml']);
    faultPaths(store, `http://${host}/Tea/v1/context.jsonld#again`, 'Tea');
    await store.close();
    expect(requests).toHaveLength(2);
  });

  it('are not fetched from hosts that the operator does not trust', async () => {
    const store = await open(['schema.example.org']);
    faultPaths(store, `http://${host}/Coffee/v1/context.jsonld`, 'Coffee');
    await store.close();
    expect(requests).toEqual([]);
  });

  it('cannot take the place of a local schema, whatever they claim to be', async () => {
    const charger = 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1';
    files['/Coffee/v1/schema.json'] = JSON.stringify({ $id: `${charger}/schema.json`, required: ['origin'] });
    const store = await open();
    const context = `http://${host}/Coffee/v1/context.jsonld`;
    faultPaths(store, context, 'Coffee');
    await expect.poll(() => faultPaths(store, context, 'Coffee'), patience).toEqual(['$.origin']);
    expect(faultPaths(store, `${charger}/context.jsonld`, 'EnergyResourceEVCharger')).toEqual([
      '$.id',
      '$.type',
    ]);
    await store.close();
  });

  it('that were kept but cannot be read any more are left out', async () => {
    await put('kept/broken.json', '{"address":');
    const store = await open();
    expect(store.checker().types.length).toBeGreaterThan(0);
    expect(await readdir(join(directory, 'kept'))).toEqual(['broken.json']);
    await store.close();
  });
});
