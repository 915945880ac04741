import type { PublishMessage } from '../../protocol/publish-messages.ts';
import type { WireProfile } from '../../protocol/signed-document.ts';
import { type ListPreview, type PublishPreview, previewPublish } from '../../publisher/preview.ts';
import type { PublishedTree } from '../../publisher/published.ts';
import { triggerSubmissionsOf } from '../../publisher/submission.ts';
import { counted, joinSome } from '../command.ts';

export async function previewAll(message: PublishMessage, published: PublishedTree, profile: WireProfile) {
  const previews: PublishPreview[] = [];
  for (const submission of triggerSubmissionsOf(message))
    previews.push(previewPublish(submission, await published.find(submission.catalog.id), profile));
  return previews;
}

export function renderPreviews(previews: readonly PublishPreview[], { entries }: PublishedTree): string[] {
  const of = (kind: PublishPreview['kind']) => previews.filter((preview) => preview.kind === kind);
  const changes = [...of('refused'), ...of('changed'), ...of('new')];
  const counts = (['new', 'changed', 'unchanged', 'refused'] as const).map(
    (kind) => `${of(kind).length.toLocaleString('en-US')} ${kind}`,
  );
  const more = changes.length - shownChanges;
  return [
    ...changes.slice(0, shownChanges).map(renderPreview),
    ...(more > 0 ? [`… and ${more.toLocaleString('en-US')} more`] : []),
    `A publish would have ${counted(previews.length, 'catalog')}: ${counts.join(', ')}. Nothing was written.`,
    ...renderAbsent(previews, entries),
  ];
}

const shownChanges = 50;

function renderPreview({ catalogId, kind, retiredAt, ...preview }: PublishPreview): string {
  if (kind === 'refused') return `${catalogId}: refused, because it was retired at ${retiredAt}`;
  const { resources, offers, members, facts } = preview;
  const { isActive, networkIds } = facts;
  const changes = [
    ...renderList('resource', resources),
    ...renderList('offer', offers),
    // The state of the entry shows whether the catalog is active.
    ...members.filter((name) => name !== 'isActive').map((name) => `${name} changed`),
    ...(isActive === undefined ? [] : [isActive ? 'becomes active' : 'becomes inactive']),
    ...('networkIds' in facts ? [`for ${networkIds?.join(', ') ?? 'every network'}`] : []),
  ];
  return `${catalogId}: ${kind}: ${changes.join(', ') || 'written as a whole'}`;
}

function renderList(what: string, { added, changed, removed }: ListPreview): string[] {
  const counts = Object.entries({ added, changed, removed }).filter(([, count]) => count > 0);
  return counts.map(([word, count]) => `${counted(count, what)} ${word}`);
}

/** Several lists may be published here, so a list does not retire catalogs that it lacks. */
function renderAbsent(previews: readonly PublishPreview[], entries: PublishedTree['entries']): string[] {
  const here = new Set(previews.map(({ catalogId }) => catalogId));
  const absent = [...entries.values()].filter(
    ({ catalogId, retiredAt }) => retiredAt === undefined && !here.has(catalogId),
  );
  if (absent.length === 0) return [];
  const ids = joinSome(absent.map(({ catalogId }) => catalogId));
  return [
    `Published but not in this list, left unchanged: ${ids}. "signpost retire" ends a catalog permanently.`,
  ];
}
