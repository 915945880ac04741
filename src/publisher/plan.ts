import type { WireProfile } from '../protocol/signed-document.ts';
import { isActiveAfter, stateActivity } from './activity.ts';
import type { PublishedCatalog } from './build.ts';
import { type ContentDiff, diffContent } from './diff.ts';
import { type NextContent, nextContent, type TriggerSubmission } from './submission.ts';

/** What a publish makes of a catalog, before anything is built or written. */
interface PublishPlan {
  next: NextContent;
  isActive: boolean;
  /** From what is published to what shall be, where there is any and it can be read. */
  diff: ContentDiff | undefined;
}

export function planPublish(
  submission: TriggerSubmission,
  current: PublishedCatalog | undefined,
  profile: WireProfile,
): PublishPlan {
  const submitted = nextContent(current?.content, submission);
  const isActive = isActiveAfter(submission, current, submitted, profile);
  const next = stateActivity(submitted, isActive, current?.content, profile);
  return { next, isActive, diff: current?.content && diffContent(current.content, next) };
}
