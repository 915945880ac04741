import type { PublishResult } from '../../protocol/publish-messages.ts';
import type { TriggerResult } from '../../protocol/trigger-messages.ts';
import { counted, renderTable } from '../command.ts';

type Result = PublishResult | TriggerResult;

/** Above this, rows are only counted, except those that need attention. */
const maxRows = 20;

/** One row per catalog, or with many catalogs only the rejected ones. Errors and warnings follow, then the count of each kind. */
export function renderResults(results: readonly Result[]): string {
  const shown = results.length <= maxRows ? results : results.filter(({ status }) => status !== 'ACCEPTED');
  const rows = shown.map((result) => [result.catalogId, result.status, detailOf(result)]);
  return [
    ...(rows.length > 0 ? [renderTable(['CATALOG', 'STATUS', ''], rows)] : []),
    ...results.flatMap(renderProblems),
    ...(results.length > 1 ? [renderCounts(results)] : []),
  ].join('\n');
}

export function renderProblems(result: Result): string[] {
  const { catalogId, errors = [] } = result;
  const warnings = 'warnings' in result ? (result.warnings ?? []) : [];
  return [
    ...errors.map(
      ({ code, message, details }) =>
        `${catalogId}: ${message} (${[code, details?.path].filter(Boolean).join(', ')})`,
    ),
    ...warnings.map(({ message }) => `${catalogId}: warning: ${message}`),
  ];
}

function detailOf(result: Result): string {
  if ('version' in result) return `version ${result.version}${isUnchanged(result) ? ', unchanged' : ''}`;
  const count = 'stats' in result ? result.stats?.itemCount : undefined;
  return count === undefined ? '' : counted(count, 'resource');
}

/** `5,000 catalogs: 12 changed, 4,987 unchanged, 1 rejected.` A catalog service reports no changes; its catalogs count as accepted. */
function renderCounts(results: readonly Result[]): string {
  const counts = new Map<string, number>();
  for (const result of results) counts.set(wordFor(result), (counts.get(wordFor(result)) ?? 0) + 1);
  const parts = words.flatMap((word) => {
    const count = counts.get(word) ?? 0;
    return count > 0 ? [`${count.toLocaleString('en-US')} ${word}`] : [];
  });
  return `${counted(results.length, 'catalog')}: ${parts.join(', ')}.`;
}

const words = ['changed', 'unchanged', 'accepted', 'partly accepted', 'rejected'] as const;

function wordFor(result: Result): (typeof words)[number] {
  if (result.status === 'REJECTED') return 'rejected';
  if (result.status === 'PARTIAL') return 'partly accepted';
  if (isUnchanged(result)) return 'unchanged';
  return 'version' in result ? 'changed' : 'accepted';
}

function isUnchanged(result: Result): boolean {
  return 'unchanged' in result && result.unchanged === true;
}
