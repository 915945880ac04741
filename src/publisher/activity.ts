import type { WireProfile } from '../protocol/signed-document.ts';
import type { CatalogContent } from '../rules/self-hosted/content.ts';
import type { PublishedCatalog } from './build.ts';
import { diffContent } from './diff.ts';
import { type NextContent, nextContent, type TriggerSubmission } from './submission.ts';

// Whether a catalog is active stands in its entry (self-hosted spec: States and transitions). A catalog may say so of itself, too. Crawlers that
// read the profile `nfh014` look only there: in that profile the content always says what the entry says.

/** Plans the effect of a publish on a catalog, before anything is built or written. `diff`: from the published content to the new one, if there is a readable one. */
export function planPublish(
  submission: TriggerSubmission,
  current: PublishedCatalog | undefined,
  profile: WireProfile,
) {
  const submitted = nextContent(current?.content, submission);
  // Where the submitted catalog says nothing, a paused catalog stays paused.
  const silent = isPaused(current, profile) ? false : (submitted.members.isActive ?? true);
  const isActive = submission.catalog.isActive ?? silent;
  const next = stateActivity(submitted, isActive, current?.content, profile);
  return { next, isActive, diff: current?.content && diffContent(current.content, next) };
}

/** Paused by its operator, not inactive by its own word. Where the content repeats what the entry says, the two look the same. */
export function isPaused(current: PublishedCatalog | undefined, profile: WireProfile): boolean {
  if (current?.entry.isActive !== false) return false;
  return profile === 'nfh014' || current.content?.members.isActive !== false;
}

/** The content that goes with an entry that is active or not. A catalog that is resumed does not go on calling itself inactive. */
export function stateActivity<T extends NextContent>(
  next: T,
  isActive: boolean,
  before: CatalogContent | undefined,
  profile: WireProfile,
): T {
  const { isActive: stated } = next.members;
  // A member that was there once stays: a change file cannot take one away.
  const isSaid = stated !== undefined || before?.members.isActive !== undefined;
  const mustSay = profile === 'nfh014' ? isSaid || !isActive : isActive && stated === false;
  return mustSay ? { ...next, members: { ...next.members, isActive } } : next;
}
