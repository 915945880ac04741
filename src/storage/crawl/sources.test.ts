import { expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import type { Database } from '../database.ts';
import { configureSources, nameNodes } from './sources.ts';

let database: Database;
useDatabase(
  (opened) => {
    database = opened;
  },
  { emptied: 'discovery.crawl_host, discovery.crawl_source cascade' },
);

const network = { kind: 'network', name: 'net.example/nodes' } as const;
const address = { kind: 'address', name: 'http://10.0.0.1' } as const;

async function configure(...sources: (typeof network | typeof address)[]): Promise<void> {
  const settings = { sources, policy: 'policy', hideUnconfirmed: false };
  await database.transaction((tx) => configureSources(tx, settings));
}

async function name({ kind }: typeof network | typeof address, configuredUrl?: string): Promise<void> {
  const { rows } = await database.query<{ id: number }>(
    'select id from discovery.crawl_source where kind = $1',
    [kind],
  );
  const node = { node: 'node.example/nodes', host: '10.0.0.1:80', configuredUrl };
  await database.transaction((tx) => nameNodes(tx, rows[0]?.id ?? 0, [node]));
}

it('an address that the operator has written for a node counts until it is not in the settings any more', async () => {
  const known = async () =>
    (await database.query('select named, configured_url from discovery.crawl_node')).rows;
  await configure(network, address);
  await name(network);
  await name(address, address.name);
  await configure(network, address);
  expect(await known()).toEqual([{ named: true, configured_url: address.name }]);
  await configure(network);
  expect(await known()).toEqual([{ named: true, configured_url: null }]);
});
