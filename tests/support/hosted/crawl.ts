import { hostTable } from '../../../src/storage/crawl/hosts.ts';
import { readLog } from '../../../src/storage/crawl/log.ts';
import { sourceTable } from '../../../src/storage/crawl/sources.ts';
import type { Database } from '../../../src/storage/database.ts';
import { patienceMs } from '../patience.ts';
import { until } from '../time.ts';

// The crawler of the network's discovery service, sped up: it does not wait for its schedule.

/** Crawls everything, due or not, and waits until nothing is due. */
export async function crawl(database: Database, options: { timeoutMs?: number } = {}): Promise<void> {
  await rouse(database);
  await settled(database, options);
}

/** Makes everything due. */
export async function rouse(database: Database): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query('update discovery.crawl_source set due_at = now()');
    await tx.query(
      'update discovery.crawl_node set due_at = now(), stir = stir + 1 where named or has_masters',
    );
    await tx.query('update discovery.crawl_index set due_at = now(), stir = stir + 1 where listed');
    await tx.query(
      'update discovery.crawl_target set due_at = now(), stir = stir + 1 where due_at is not null',
    );
    await tx.query('update discovery.crawl_host set due_at = now(), rest_until = null');
    tx.hint(sourceTable);
    tx.hint(hostTable);
  });
}

/** Waits until nothing is due soon; failed work is retried later. */
export async function settled(database: Database, { timeoutMs = patienceMs } = {}): Promise<void> {
  await until(
    async () => {
      // Does not wait for work at a host that rests.
      const due = ['node', 'index', 'target'].map(
        (item) => `exists (
          select from discovery.crawl_${item} as item join discovery.crawl_host as host on host.id = host_id
          where item.due_at <= now() and (rest_until is null or rest_until <= now())
        )`,
      );
      const { rows } = await database.query<{ busy: boolean }>(
        `select exists (select from discovery.crawl_source where due_at <= now() or leased_until > now())
           or exists (select from discovery.crawl_host where due_at <= now() or leased_until > now())
           or exists (select from discovery.crawl_rebuild where due_at is not null) or ${due.join(' or ')} as busy`,
      );
      return rows[0]?.busy === false;
    },
    'everything to be crawled',
    timeoutMs,
  );
}

/** The reason codes in the crawl log of a node, newest first. */
export async function logged(database: Database, node: string): Promise<string[]> {
  const { lines } = await readLog(database, { node, limit: 100, offset: 0 });
  return lines.map(({ code }) => code);
}
