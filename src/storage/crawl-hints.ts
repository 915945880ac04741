import { wakeHosts } from './crawl-hosts.ts';
import { addNodes, type ChangedCatalog, type NamedNode, sourceTable } from './crawl-sources.ts';
import type { Transaction } from './database.ts';

// Hints from outside that a node has published something, and the operator's wish to have one crawled now.

export type HintOutcome = { kind: 'taken' } | { kind: 'unknown' } | { kind: 'too-soon'; waitSeconds: number };

/** Makes all due that is read of a known node, unless that was done just before. */
export async function hintNode(
  tx: Transaction,
  node: string,
  { now, spacingMs }: { now: Date; spacingMs: number },
): Promise<HintOutcome> {
  const { rows } = await tx.query<{ id: number; host_id: number; hinted_at: Date | null }>(
    'select id, host_id, hinted_at from discovery.crawl_node where node = $1 and (named or has_masters)',
    [node],
  );
  const [known] = rows;
  if (known === undefined) return { kind: 'unknown' };
  const waitMs = known.hinted_at === null ? 0 : known.hinted_at.getTime() + spacingMs - now.getTime();
  if (waitMs > 0) return { kind: 'too-soon', waitSeconds: waitMs / 1000 };
  await wakeHosts(tx, [known.host_id], now);
  const { rowCount } = await tx.query(
    `update discovery.crawl_node set hinted_at = $2, due_at = $2, stir = stir + 1
     where id = $1 and hinted_at is not distinct from $3`,
    [known.id, now, known.hinted_at],
  );
  if (rowCount === 0) return { kind: 'too-soon', waitSeconds: spacingMs / 1000 };
  await makeContentDue(tx, known.id, now);
  return { kind: 'taken' };
}

/** The operator wants a node crawled now, also where its host rests after a failure. Returns whether it is known. */
export async function crawlNow(tx: Transaction, node: string, now: Date): Promise<boolean> {
  const { rows } = await tx.query<{ id: number; host_id: number }>(
    'select id, host_id from discovery.crawl_node where node = $1 and (named or has_masters)',
    [node],
  );
  const [known] = rows;
  if (known === undefined) return false;
  await tx.query('update discovery.crawl_host set rest_until = null where id = $1', [known.host_id]);
  await wakeHosts(tx, [known.host_id], now);
  await tx.query('update discovery.crawl_node set due_at = $2, stir = stir + 1 where id = $1', [
    known.id,
    now,
  ]);
  await makeContentDue(tx, known.id, now);
  return true;
}

async function makeContentDue(tx: Transaction, nodeId: number, now: Date): Promise<void> {
  await tx.query(
    'update discovery.crawl_index set due_at = $2, stir = stir + 1 where node_id = $1 and listed',
    [nodeId, now],
  );
  await tx.query(
    'update discovery.crawl_target set due_at = $2, stir = stir + 1 where node_id = $1 and due_at > $2',
    [nodeId, now],
  );
}

/** Has all sources asked now whom they name. */
export async function enumerateNow(tx: Transaction, now: Date): Promise<void> {
  await tx.query('update discovery.crawl_source set due_at = $1', [now]);
  tx.hint(sourceTable);
}

/** Whether a name that nobody has named may be looked up: each once in the window, and in all only so many. */
export async function mayLookUp(
  tx: Transaction,
  node: string,
  { now, windowMs, maxNames }: { now: Date; windowMs: number; maxNames: number },
): Promise<boolean> {
  await tx.query('lock table discovery.crawl_stranger in share row exclusive mode');
  await tx.query('delete from discovery.crawl_stranger where asked_at <= $1', [
    new Date(now.getTime() - windowMs),
  ]);
  const { rowCount } = await tx.query(
    `insert into discovery.crawl_stranger (node, asked_at)
     select $1, $2 where (select count(*) from discovery.crawl_stranger) < $3
     on conflict (node) do nothing`,
    [node, now, maxNames],
  );
  return rowCount > 0;
}

/** A node that these networks have, and that their next enumeration will name, too. */
export async function admitNode(
  tx: Transaction,
  node: NamedNode,
  networks: readonly string[],
  now: Date,
): Promise<ChangedCatalog[]> {
  const { rows } = await tx.query<{ id: number }>(
    "select id from discovery.crawl_source where kind = 'network' and name = any ($1)",
    [networks],
  );
  return addNodes(
    tx,
    rows.map(({ id }) => id),
    [node],
    now,
  );
}
