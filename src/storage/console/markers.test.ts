import { expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import type { Database } from '../database.ts';
import { readMarkers } from './markers.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

it('a change of the index is told also where the number of its transaction has one digit more', async () => {
  const change = async (xid: string) => {
    await database.query('insert into discovery.change (xid) values ($1::text::xid8)', [xid]);
    return (await readMarkers(database)).catalog;
  };
  expect(await change('999999999999')).not.toBe(await change('1000000000000'));
});
