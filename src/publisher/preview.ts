import type { WireProfile } from '../protocol/signed-document.ts';
import { isSameValue } from '../rules/same-value.ts';
import { planPublish } from './activity.ts';
import type { PublishedCatalog } from './build.ts';
import { type EntryFacts, factsOfEntry } from './entry.ts';
import { networksOf } from './facts.ts';
import type { TriggerSubmission } from './submission.ts';

// The effect of publishing a catalog. Nothing is signed or written, and `extends` is ignored.

export interface PublishPreview {
  catalogId: string;
  kind: 'new' | 'changed' | 'unchanged' | 'refused';
  /** Time of retirement: then it is refused. */
  retiredAt?: string;
  resources: ListPreview;
  offers: ListPreview;
  /** Names of catalog-level members that change, appear or disappear. */
  members: string[];
  facts: Partial<Pick<EntryFacts, 'isActive' | 'networkIds'>>;
}

export interface ListPreview {
  added: number;
  changed: number;
  removed: number;
}

export function previewPublish(
  submission: TriggerSubmission,
  current: PublishedCatalog | undefined,
  profile: WireProfile,
): PublishPreview {
  const { id: catalogId, resources = [], offers = [] } = submission.catalog;
  const retiredAt = current?.entry.retiredAt;
  const nothing = { catalogId, resources: none, offers: none, members: [], facts: {} };
  if (retiredAt !== undefined) return { ...nothing, kind: 'refused', retiredAt };
  const published = current?.content;
  if (current === undefined || published === undefined) {
    const added = { resources: allNew(resources.length), offers: allNew(offers.length) };
    return { ...nothing, ...added, kind: current ? 'changed' : 'new' };
  }
  const { next, diff, isActive } = planPublish(submission, current, profile);
  const networkIds = networksOf(submission, current.entry);
  const before = factsOfEntry(current.entry);
  const preview = {
    ...nothing,
    resources: previewList(published.resources, diff?.resources),
    offers: previewList(published.offers, diff?.offers),
    members: differingNames(published.members, next.members),
    facts: {
      ...(before.isActive !== isActive && { isActive }),
      ...(!isSameValue(before.networkIds, networkIds) && { networkIds }),
    },
  };
  const isChanged = diff !== undefined || preview.members.length + Object.keys(preview.facts).length > 0;
  return { ...preview, kind: isChanged ? 'changed' : 'unchanged' };
}

const none: ListPreview = { added: 0, changed: 0, removed: 0 };

function allNew(added: number): ListPreview {
  return { ...none, added };
}

function previewList(
  current: ReadonlyMap<string, unknown>,
  { upserts = [], removals = [] }: { upserts?: { id: string }[]; removals?: string[] } = {},
): ListPreview {
  const changed = upserts.filter(({ id }) => current.has(id)).length;
  return { added: upserts.length - changed, changed, removed: removals.length };
}

function differingNames(before: object, after: object): string[] {
  const old: Record<string, unknown> = { ...before };
  const now: Record<string, unknown> = { ...after };
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].filter((name) => !isSameValue(old[name], now[name]));
}
