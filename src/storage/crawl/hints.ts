import type { Transaction } from '../database.ts';
import { type Sql, sql } from '../sql.ts';
import { wakeHosts } from './hosts.ts';
import { addNodes, type NamedNode, sourceTable } from './sources.ts';

// Hints from outside that a node has published something, and the operator's wish to have one crawled now.

export type HintOutcome = { kind: 'taken' } | { kind: 'unknown' } | { kind: 'too-soon'; waitSeconds: number };

/** Makes all due that is read of a known node, unless that was done just before. */
export async function hintNode(tx: Transaction, node: string, spacingMs: number): Promise<HintOutcome> {
  const known = await tx.first<{ id: number; host_id: number; wait_ms: number }>(sql`
    select id, host_id,
      case when ${isHinted(spacingMs)} then extract(epoch from hinted_at - now()) * 1000 + ${spacingMs} else 0 end::float8 as wait_ms
    from discovery.crawl_node where node = ${node} and (named or has_masters)`);
  if (known === undefined) return { kind: 'unknown' };
  if (known.wait_ms > 0) return tooSoon(known.wait_ms, spacingMs);
  await wakeHosts(tx, [known.host_id]);
  const hinted = await tx.count(sql`
    update discovery.crawl_node set hinted_at = now(), due_at = now(), stir = stir + 1
    where id = ${known.id} and not ${isHinted(spacingMs)}`);
  if (hinted === 0) return tooSoon(spacingMs, spacingMs);
  await makeContentDue(tx, known.id);
  return { kind: 'taken' };
}

/** Whether that was done just before. A time further ahead than the spacing is from before the clock was set back. */
function isHinted(spacingMs: number): Sql {
  return sql`coalesce(abs(extract(epoch from hinted_at - now())) * 1000 < ${spacingMs}, false)`;
}

function tooSoon(waitMs: number, spacingMs: number): HintOutcome {
  return { kind: 'too-soon', waitSeconds: Math.min(waitMs, spacingMs) / 1000 };
}

/** The operator wants a node crawled now, also where its host rests after a failure. Returns whether it is known. */
export async function crawlNow(tx: Transaction, node: string): Promise<boolean> {
  const known = await tx.first<{ id: number; host_id: number }>(sql`select id, host_id
    from discovery.crawl_node where node = ${node} and (named or has_masters)`);
  if (known === undefined) return false;
  await tx.query(sql`update discovery.crawl_host set rest_until = null where id = ${known.host_id}`);
  await wakeHosts(tx, [known.host_id]);
  await tx.query(sql`update discovery.crawl_node set due_at = now(), stir = stir + 1 where id = ${known.id}`);
  await makeContentDue(tx, known.id);
  return true;
}

async function makeContentDue(tx: Transaction, nodeId: number): Promise<void> {
  await tx.query(sql`update discovery.crawl_index set due_at = now(), stir = stir + 1
    where node_id = ${nodeId} and listed`);
  await tx.query(sql`update discovery.crawl_target set due_at = now(), stir = stir + 1
    where node_id = ${nodeId} and due_at > now()`);
}

export async function enumerateNow(tx: Transaction): Promise<void> {
  await tx.query('update discovery.crawl_source set due_at = now()');
  tx.hint(sourceTable);
}

/** Whether an unknown name may be looked up: each once per window, and a limited number in all. */
export async function mayLookUp(
  tx: Transaction,
  node: string,
  { windowMs, maxNames }: { windowMs: number; maxNames: number },
): Promise<boolean> {
  // A time further ahead than the window is from before the clock was set back.
  const age = sql`abs(extract(epoch from asked_at - now())) * 1000`;
  const isFull = await tx.value<boolean>(sql`
    select count(*) >= ${maxNames} or coalesce(bool_or(node = ${node}), false) from discovery.crawl_stranger where ${age} < ${windowMs}`);
  // Mostly so while somebody makes up names: these must not wait for each other, each with a connection in its hands.
  if (isFull) return false;
  await tx.query('lock table discovery.crawl_stranger in share row exclusive mode');
  await tx.query(sql`delete from discovery.crawl_stranger where ${age} >= ${windowMs}`);
  return tx.has(sql`insert into discovery.crawl_stranger (node, asked_at)
    select ${node}, now() where (select count(*) from discovery.crawl_stranger) < ${maxNames}
    on conflict (node) do nothing`);
}

/** A node that these networks have, and that their next enumeration will name, too. */
export async function admitNode(tx: Transaction, node: NamedNode, networks: readonly string[]) {
  const sources = await tx.column<number>(sql`select id from discovery.crawl_source
    where kind = 'network' and name = any (${networks})`);
  return addNodes(tx, sources, [node]);
}
