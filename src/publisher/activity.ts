import type { WireProfile } from '../protocol/signed-document.ts';
import type { CatalogContent } from '../rules/self-hosted/content.ts';
import type { PublishedCatalog } from './build.ts';
import { diffContent } from './diff.ts';
import { type NextContent, nextContent, type TriggerSubmission } from './submission.ts';

// The entry of a catalog says whether it is active (self-hosted spec: States and transitions). The content may say so, too. Crawlers that
// read the profile `nfh014` look only there, so in that profile the content always agrees with the entry.

/** Plans the effect of a publish on a catalog, without building or writing. `diff`: between the published and the new content, if readable. */
export function planPublish(
  submission: TriggerSubmission,
  current: PublishedCatalog | undefined,
  profile: WireProfile,
) {
  const submitted = nextContent(current?.content, submission);
  // A paused catalog stays paused unless the submitted catalog says otherwise.
  const silent = isPaused(current, profile) ? false : (submitted.members.isActive ?? true);
  const isActive = submission.catalog.isActive ?? silent;
  const next = stateActivity(submitted, isActive, current?.content, profile);
  return { next, isActive, diff: current?.content && diffContent(current.content, next) };
}

/** Paused by its operator, not inactive in its content. If the content repeats the entry, the two look the same. */
export function isPaused(current: PublishedCatalog | undefined, profile: WireProfile): boolean {
  if (current?.entry.isActive !== false) return false;
  return profile === 'nfh014' || current.content?.members.isActive !== false;
}

/** Aligns the content with the entry's activity. The content of a resumed catalog must not say that it is inactive. */
export function stateActivity<T extends NextContent>(
  next: T,
  isActive: boolean,
  before: CatalogContent | undefined,
  profile: WireProfile,
): T {
  const { isActive: stated } = next.members;
  // An existing member stays: a change file cannot remove it.
  const isSaid = stated !== undefined || before?.members.isActive !== undefined;
  const mustSay = profile === 'nfh014' ? isSaid || !isActive : isActive && stated === false;
  return mustSay ? { ...next, members: { ...next.members, isActive } } : next;
}
