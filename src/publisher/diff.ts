import type { CatalogOverlay, FileDirective } from '../protocol/signed-files.ts';
import { isSameValue } from '../rules/same-value.ts';
import type { CatalogContent, ChangeContent } from '../rules/self-hosted/content.ts';
import type { NextContent } from './submission.ts';

// Makes a change file: "only the resources and offers added, updated or removed since the previous version" (self-hosted
// spec: Catalog file, baseline and change file). The order of resources and offers is not content: moving them
// is no change.

export type ContentDiff = Pick<ChangeContent, 'resources' | 'offers' | 'catalog' | 'directives'>;

/** Undefined if both are the same. */
export function diffContent(current: CatalogContent, next: NextContent): ContentDiff | undefined {
  const extendsTheSame = (id: string) => isSameValue(current.directives.get(id), next.directives.get(id));
  const resources = diffList(current.resources, next.resources, extendsTheSame);
  const offers = diffList(current.offers, next.offers, () => true);
  const catalog = overlayOf(current.members, next.members);
  if (resources.isEmpty && offers.isEmpty && catalog === undefined) return undefined;
  const directives = resources.upserts.flatMap(({ id }): FileDirective[] => {
    const directive = next.directives.get(id);
    return directive ? [directive] : [];
  });
  return {
    resources: { upserts: resources.upserts, removals: resources.removals },
    offers: { upserts: offers.upserts, removals: offers.removals },
    ...(catalog && { catalog }),
    ...(directives.length > 0 && { directives }),
  };
}

/** A change file overlays members and cannot remove one: that needs a baseline. */
export function losesMember(current: CatalogContent, next: NextContent): boolean {
  return Object.keys(current.members).some((name) => !Object.hasOwn(next.members, name));
}

function diffList<T extends { id: string }>(
  current: ReadonlyMap<string, T>,
  next: ReadonlyMap<string, T>,
  isSameBeside: (id: string) => boolean,
): { upserts: T[]; removals: string[]; isEmpty: boolean } {
  const isChanged = (item: T) => !isSameValue(current.get(item.id), item) || !isSameBeside(item.id);
  const upserts = [...next.values()].filter(isChanged);
  const removals = [...current.keys()].filter((id) => !next.has(id));
  return { upserts, removals, isEmpty: upserts.length + removals.length === 0 };
}

function overlayOf(
  current: CatalogContent['members'],
  next: NextContent['members'],
): CatalogOverlay | undefined {
  const before: Record<string, unknown> = current;
  const changed = Object.entries(next).filter(([name, value]) => !isSameValue(before[name], value));
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
