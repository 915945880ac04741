import type { IndexEntry } from '../../protocol/signed-files.ts';
import { isAnyMasterHere, searchForMasters } from '../../storage/crawl/masters.ts';
import { recordTarget } from '../../storage/crawl/targets.ts';
import type { DeclaredMasters } from './declared-masters.ts';
import { type EntryWork, postpone } from './entry-work.ts';
import { CrawlFault } from './reasons.ts';

// A REGULAR catalog that extends what is not there waits, with its cursor where it was: it is tried again now and then, and as soon as a
// MASTER catalog comes that it waits for.

/**
 * Whether there is no use in fetching the files now: the masters that it declares are on their way, or none has come of the resources that it
 * is known to wait for. Where only declared catalogs are waited for, which are not to be had, its files say what it needs.
 */
export async function mustWait(
  { context, row }: EntryWork,
  { coming, owners, unknown }: DeclaredMasters,
): Promise<boolean> {
  const names = row.waiting_for ?? [];
  if (coming.length > 0) return names.length > 0 || row.version === null;
  const isDeclared = (name: string) => owners.has(name) || unknown.includes(name);
  return !names.every(isDeclared) && !(await isAnyMasterHere(context.database, names));
}

/** @param missing the master resources that no MASTER catalog has; left out where its files were not read again */
export async function waitForMasters(
  work: EntryWork,
  entry: IndexEntry,
  { coming, unknown, faults }: DeclaredMasters,
  missing: readonly string[] = work.row.waiting_for ?? [],
): Promise<void> {
  const { context, row } = work;
  const names = [...new Set([...missing, ...coming, ...unknown])].slice(0, maxNames);
  if (names.some((name) => !row.waiting_for?.includes(name))) return noteNames(work, names);
  if (names.some((name) => !coming.includes(name))) {
    const networkIds = networksToSearch(entry, row.network_memberships, context.policy.networkIds);
    await context.database.transaction((tx) => searchForMasters(tx, networkIds));
  }
  const shown = names.slice(0, maxShown).join(', ');
  const more = names.length > maxShown ? ` and ${names.length - maxShown} more` : '';
  const message = `${entry.catalogId} extends what is in no MASTER catalog that is known here: ${shown}${more}.`;
  await postpone(work, [new CrawlFault('waiting-for-master', message), ...faults], { waiting_for: names });
}

/** It looks once more at once: whoever brought one of them meanwhile did not know that it is waited for. */
async function noteNames({ context, lease, row }: EntryWork, names: readonly string[]): Promise<void> {
  await context.database.transaction((tx) => recordTarget(tx, lease, row, { waiting_for: names }, 0));
}

/** Enough to be woken by one of them. */
const maxNames = 100;
const maxShown = 3;

/** Networks that both the entry and the registry's record of its node name: in ours, everybody is crawled anyway. */
function networksToSearch(
  { networkIds = [] }: IndexEntry,
  memberships: readonly string[],
  ours: readonly string[],
): string[] {
  const named = networkIds.length === 0 ? memberships : memberships.filter((id) => networkIds.includes(id));
  return named.filter((networkId) => !ours.includes(networkId));
}
