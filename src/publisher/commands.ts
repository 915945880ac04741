import { refusalAt, type Segments } from '../protocol/fault.ts';
import { jsonPath } from '../protocol/json.ts';
import type { TriggerResult } from '../protocol/trigger-messages.ts';
import type { CatalogContent } from '../rules/self-hosted/content.ts';
import { announcedVersion } from '../rules/self-hosted/reading-plan.ts';
import { stateActivity } from './activity.ts';
import { buildBaseline, buildEntry, buildPublish, type PublishedCatalog } from './build.ts';
import { diffContent } from './diff.ts';
import type { EntryInIndex } from './edit.ts';
import { signRetiredEntry } from './entry.ts';
import { factsOfToday } from './masters.ts';
import { buildOptions } from './tree.ts';
import { accept, acceptAsIs, reject, type Turn } from './turn.ts';

// Commands for published catalogs (self-hosted spec: States and transitions). A command without effect writes nothing.

/** Permanent. A repetition changes nothing, not even the time of retirement. */
export async function retireCatalog(turn: Turn, catalogId: string, at: Segments): Promise<TriggerResult> {
  const found = find(turn, catalogId);
  if (!found) return missing(turn, catalogId, at);
  const { indexName, entry } = found;
  if (entry.retiredAt !== undefined) return acceptAsIs(catalogId, undefined);
  await turn.edit.put(indexName, signRetiredEntry(entry, turn.tree.now().toISOString(), turn.tree));
  return { catalogId, status: 'ACCEPTED' };
}

/** The entry has the state, so unreadable catalogs can be paused; with nfh014, the content repeats it. The pause outlives the next edition. */
export async function pauseCatalog(turn: Turn, catalogId: string, at: Segments): Promise<TriggerResult> {
  const found = findLive(turn, catalogId, at);
  if ('status' in found) return found;
  const { indexName, entry } = found;
  if (turn.tree.profile === 'nfh014' || !entry.isActive) {
    const current = await turn.edit.read(entry);
    if (current.content) return setActivity(turn, indexName, current, current.content, false);
  }
  if (!entry.isActive) return acceptAsIs(catalogId, announcedVersion(entry));
  const current = await turn.edit.outline(entry);
  const facts = { ...factsOfToday(turn.tree, turn.edit, entry), isActive: false };
  await turn.edit.put(indexName, buildEntry(current, facts, turn.tree));
  return { catalogId, status: 'ACCEPTED', version: announcedVersion(entry) };
}

export async function resumeCatalog(turn: Turn, catalogId: string, at: Segments): Promise<TriggerResult> {
  const found = findLive(turn, catalogId, at);
  if ('status' in found) return found;
  const { indexName, entry } = found;
  const current = await turn.edit.read(entry);
  if (!current.content) return unreadable(catalogId, at);
  return setActivity(turn, indexName, current, current.content, true);
}

async function setActivity(
  turn: Turn,
  indexName: string,
  current: PublishedCatalog,
  content: CatalogContent,
  isActive: boolean,
): Promise<TriggerResult> {
  const { tree, edit } = turn;
  const { isActive: said, ...silent } = content.members;
  const own = !isActive && said === false ? { ...content, members: silent } : content;
  const next = stateActivity(own, isActive, content, tree.profile);
  const diff = diffContent(content, next);
  const facts = { ...factsOfToday(tree, edit, current.entry), isActive };
  const built = await buildPublish(current, facts, { next, diff }, buildOptions(tree));
  return accept(turn, indexName, built, current.checkedBy);
}

/** A baseline of the published version for every catalog of the requested index, or of all indexes. */
export async function rewriteBaselines(turn: Turn): Promise<TriggerResult[]> {
  const { edit, tree, indexName } = turn;
  const results: TriggerResult[] = [];
  for (const found of edit.entries()) {
    const { entry } = found;
    if (entry.retiredAt !== undefined || (indexName !== undefined && found.indexName !== indexName)) continue;
    const current = await edit.read(entry);
    const { content, checkedBy } = current;
    if (content) {
      const facts = factsOfToday(tree, edit, entry);
      const built = await buildBaseline(current, facts, content, buildOptions(tree));
      results.push(await accept(turn, found.indexName, built, checkedBy));
    } else results.push(unreadable(entry.catalogId));
  }
  return results;
}

/** Only in the requested index, if any. */
function find({ edit, indexName }: Turn, catalogId: string): EntryInIndex | undefined {
  const found = edit.find(catalogId);
  return indexName === undefined || found?.indexName === indexName ? found : undefined;
}

/** The same without retired ones, or the reason for the failure. */
function findLive(turn: Turn, catalogId: string, at: Segments): EntryInIndex | TriggerResult {
  const found = find(turn, catalogId);
  if (!found) return missing(turn, catalogId, at);
  const { retiredAt } = found.entry;
  if (retiredAt === undefined) return found;
  return reject(catalogId, [refusalAt(at, `names ${catalogId}, which was retired at ${retiredAt}`)]);
}

function missing({ edit }: Turn, catalogId: string, at: Segments): TriggerResult {
  const elsewhere = edit.find(catalogId);
  const why = elsewhere ? `is in the index ${elsewhere.indexName}` : 'was never published';
  return reject(catalogId, [refusalAt(at, `names ${catalogId}, which ${why}`)]);
}

/** @param at its place in the request, if any */
export function unreadable(catalogId: string, at?: Segments): TriggerResult {
  const message = `The published files of ${catalogId} cannot be read back: publish it whole.`;
  const details = at && { details: { path: jsonPath(at) } };
  return reject(catalogId, [{ code: 'BIZ_GENERIC_ERROR', message, ...details }]);
}
