import { beforeEach, describe, expect, it } from 'vitest';
import { catalog } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { laterFormat } from '../../../tests/support/search/index-formats.ts';
import { until } from '../../../tests/support/time.ts';
import { silentLogger } from '../../logger.ts';
import { type Database, openDatabase } from '../../storage/database.ts';
import { indexFormats, newestOf } from '../entries/index-format.ts';
import { writeIndex } from '../write/write-index.ts';
import { announceProcess, listProcesses } from './processes.ts';

let database: Database;
useDatabase(
  (opened) => {
    database = opened;
  },
  { emptied: 'discovery.catalog, discovery.index_process cascade' },
);

const newest = newestOf(indexFormats).version;
const later = laterFormat.version;
const known = `${newest}`;

beforeEach(() => setVersion(newest));

const logger = silentLogger();
/** Between heartbeats. */
const everyMs = 100;

describe('a process that uses the index', () => {
  it('does not start where the index has entries that are too old for it, and says what to do', async () => {
    const incoming = {
      ...{ source: 'node', owner: 'provider.example/reg', networks: null },
      ...{ type: 'REGULAR' as const, mode: 'FULL' as const, catalog: catalog('c1') },
    };
    await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply([incoming])));
    await expect(announceProcess({ database, logger }, [laterFormat])).rejects.toThrow(
      `The index has entries of version ${newest}; this program knows ${later}. First rebuild the index with a program that knows versions ${newest} and ${later}.`,
    );
  });

  it('is heard of while its requests hold all connections', async () => {
    const busy = await openDatabase({ url: database.url, logger, maxConnections: 1 });
    const announced = await announceProcess({ database: busy, logger, everyMs }, indexFormats);
    await busy.transaction(async () => {
      // The first heartbeat may have begun earlier.
      for (let heartbeat = 0; heartbeat < 2; heartbeat++) {
        await database.query("update discovery.index_process set seen_at = now() - interval '1 hour'");
        await until(async () => (await listProcesses(database)).length === 1);
      }
    });
    await announced.close();
    await busy.close();
  });

  it('says once that the index went on to a version that it does not know', async () => {
    const lines: string[] = [];
    const telling = Object.assign(Object.create(logger), {
      error: ({ err }: { err: Error }, text: string) => void lines.push(`${text}: ${err.message}`),
    });
    const announced = await announceProcess({ database, logger: telling, everyMs }, indexFormats);
    announced.check();
    await setVersion(later);
    await until(async () => lines.length > 0);
    expect(announced.check).toThrow(
      `The index has entries of version ${later}; this program knows ${known}.`,
    );
    await database.query("update discovery.index_process set seen_at = now() - interval '1 hour'");
    await until(async () => (await listProcesses(database)).length === 1);
    expect(lines).toEqual([
      `this process can neither search nor write the index any more: The index has entries of version ${later}; this program knows ${known}. Start the version that made them, or a later one: an index does not go back to an older version.`,
    ]);
    await announced.close();
  });
});

async function setVersion(version: number): Promise<void> {
  await database.query('update discovery.generation set version = $1', [version]);
}
