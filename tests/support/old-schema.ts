import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { silentLogger } from '../../src/logger.ts';
import { migrate } from '../../src/storage/migrate.ts';

const migrations = new URL('../../migrations/', import.meta.url);

/** Brings an empty database to the schema of an earlier version: up to the migration with this number. */
export async function migrateUntil(last: number, url: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'signpost-migrations-'));
  const names = (await readdir(migrations)).filter((name) => Number.parseInt(name, 10) <= last);
  await Promise.all(names.map((name) => cp(new URL(name, migrations), join(directory, name))));
  await migrate({ url, logger: silentLogger(), directory: pathToFileURL(`${directory}/`) });
  await rm(directory, { recursive: true });
}
