import { wakeHosts } from './crawl-hosts.ts';
import type { Transaction } from './database.ts';

// Hints from outside that a node has published something.

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
  await tx.query(
    'update discovery.crawl_index set due_at = $2, stir = stir + 1 where node_id = $1 and listed',
    [known.id, now],
  );
  await tx.query(
    'update discovery.crawl_target set due_at = $2, stir = stir + 1 where node_id = $1 and due_at > $2',
    [known.id, now],
  );
  return { kind: 'taken' };
}
