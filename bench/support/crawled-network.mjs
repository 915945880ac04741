// A network of nodes that host their files (servers/nodes.mjs), and a discovery service that crawls it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { startService } from '../service.mjs';
import { network } from './crawled-nodes.mjs';

/** Nodes with their files, and a discovery service that knows no node yet. */
export async function withCrawler(size, measure) {
  const played = fork(new URL('../servers/nodes.mjs', import.meta.url), [JSON.stringify(size)]);
  try {
    const [port] = await once(played, 'message');
    const service = await startService({
      settings: {
        ROLES: 'discovery',
        REGISTRY_URL: `http://127.0.0.1:${port}`,
        DISCOVERY_NETWORKS: JSON.stringify([network]),
      },
    });
    try {
      const crawl = () => crawlAll(service.database, played, size);
      return await measure({ service, crawl, port });
    } finally {
      await service.close();
    }
  } finally {
    played.disconnect();
  }
}

/** Opens the network and has its members listed; ends when every catalog matches its entry. */
async function crawlAll(database, played, { nodes: members, catalogs: each }) {
  await tell(played, 'open');
  await database.transaction(async (tx) => {
    await tx.query('update discovery.crawl_source set due_at = now()');
    tx.hint('discovery.crawl_source');
  });
  await untilCounted(database, allSettled, members * each);
  await tell(played, 'close');
}

const allSettled = 'select count(*) as count from discovery.crawl_target where settled_digest = digest';

async function tell(child, message) {
  child.send(message);
  await once(child, 'message');
}

export async function untilCounted(database, counting, wanted) {
  for (;;) {
    const { rows } = await database.query(counting);
    if (rows[0].count === wanted) return;
    const { rows: faults } = await database.query(
      'select code, min(message), count(*) from discovery.crawl_log group by code',
    );
    if (faults.length > 0) throw new Error(`not everything was taken: ${JSON.stringify(faults)}`);
    await delay(50);
  }
}
