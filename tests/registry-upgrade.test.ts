import pg from 'pg';
import { expect, it } from 'vitest';
import { silentLogger } from '../src/logger.ts';
import { openDatabase } from '../src/storage/database.ts';
import { setKeyState } from '../src/storage/registry/participants.ts';
import { findKeyRecord } from '../src/storage/registry/records.ts';
import { createEmptyDatabase } from './support/database.ts';
import { migrateUntil } from './support/old-schema.ts';

const bpp = { namespace: 'bpp.example.com', registryName: 'subscribers.beckn.one' };
const lastBefore = 12;

it('a record that was registered before versions were kept has its last change as the first one', async () => {
  const home = await createEmptyDatabase();
  await migrateUntil(lastBefore, home.url);
  const old = new pg.Client({ connectionString: home.url });
  await old.connect();
  await old.query(
    `insert into registry.participant (namespace, registry_name, subscriber_id, created_at, updated_at)
     values ($1, $2, $1, '2025-01-01', '2025-02-01')`,
    [bpp.namespace, bpp.registryName],
  );
  await old.query(
    `insert into registry.signing_key (namespace, registry_name, record_id, public_key, state, ttl_seconds, created_at, updated_at)
     values ($1, $2, 'key-1', 'public key', 'live', 60, '2025-01-01', '2025-01-01')`,
    [bpp.namespace, bpp.registryName],
  );
  await old.end();
  const database = await openDatabase({ url: home.url, logger: silentLogger() });
  try {
    const asOn = (moment: string) => findKeyRecord(database, bpp, 'key-1', { asOn: new Date(moment) });
    expect(await findKeyRecord(database, bpp, 'key-1')).toMatchObject({ version: 1, state: 'live' });
    await setKeyState(database, bpp, 'revoked');
    expect(await findKeyRecord(database, bpp, 'key-1')).toMatchObject({ version: 2, state: 'revoked' });
    expect(await asOn('2025-03-01T00:00:00Z')).toMatchObject({ version: 1, state: 'live' });
    expect(await asOn('2025-01-15T00:00:00Z')).toBeUndefined();
  } finally {
    await database.close();
    await home.drop();
  }
});
