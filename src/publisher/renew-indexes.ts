import type { IndexEntry } from '../protocol/signed-files.ts';
import type { TriggerAnswer, TriggerResult } from '../protocol/trigger-messages.ts';
import { isSameValue } from '../rules/same-value.ts';
import { buildBaseline, buildEntry } from './build.ts';
import { unreadable } from './commands.ts';
import { editTree } from './edit.ts';
import { type EntryFacts, type EntryLinks, linksOf, saysTheSame, signRetiredEntry } from './entry.ts';
import { factsOfToday } from './masters.ts';
import { answerOf } from './publish.ts';
import { buildOptions, type PublisherTree } from './tree.ts';
import { accept } from './turn.ts';

// Renews the indexes while nothing is published.

/** Announces a new next update, and drops files that were listed or kept long enough. */
export function refreshIndexes(tree: PublisherTree): Promise<void> {
  return editTree(tree, async (edit) => {
    edit.renewIndexes();
    for (const found of edit.entries()) {
      const { indexName, entry } = found;
      if (entry.retiredAt !== undefined) {
        await edit.tidy(found);
        continue;
      }
      const current = await edit.outline(entry);
      const facts = factsOfToday(tree, edit, entry);
      const links = linksOf(entry, current.expired, tree.baseUrl);
      if (isUpToDate(entry, facts, links)) await edit.tidy(found);
      else await edit.put(indexName, buildEntry(current, facts, tree));
    }
  });
}

function isUpToDate(entry: IndexEntry, facts: EntryFacts, links: EntryLinks): boolean {
  const { baseline, changes } = entry;
  return isSameValue({ ...(baseline && { baseline }), changes }, links) && saysTheSame(entry, facts);
}

/**
 * Signs everything with the current key, after the previous one was compromised (self-hosted spec: Authentication, 5): for each catalog a new
 * baseline of the published version, and no references to files with the old signature.
 *
 * @param skip how far all versions jump: after a restore of older files, beyond the versions that readers have seen
 */
export function resignEverything(tree: PublisherTree, skip = 0): Promise<TriggerAnswer> {
  return editTree(tree, async (edit) => {
    const results: TriggerResult[] = [];
    const warnings: string[] = [];
    edit.renewIndexes();
    for (const { indexName, entry } of edit.entries()) {
      if (entry.retiredAt !== undefined) {
        const skipped = { ...entry, entryVersion: entry.entryVersion + skip };
        await edit.put(indexName, signRetiredEntry(skipped, entry.retiredAt, tree));
        results.push({ catalogId: entry.catalogId, status: 'ACCEPTED' });
        continue;
      }
      const { content, checkedBy } = await edit.read(entry);
      if (content) {
        const facts = factsOfToday(tree, edit, entry);
        const current = { entry: { ...entry, entryVersion: entry.entryVersion + skip, changes: [] } };
        const next = { ...content, version: content.version + skip };
        const built = await buildBaseline(current, facts, next, buildOptions(tree));
        results.push(await accept({ edit, warnings }, indexName, built, checkedBy));
      } else results.push(unreadable(entry.catalogId));
    }
    return answerOf(results, warnings);
  });
}
