import type { PublishResult } from '../protocol/publish-messages.ts';
import type { TriggerResult } from '../protocol/trigger-messages.ts';
import { counted, renderTable } from './command.ts';

/** One row per catalog, and below it what is wrong with those that were not taken as they are, or probably wrong. */
export function renderResults(results: readonly (PublishResult | TriggerResult)[]): string {
  const table = renderTable(
    ['CATALOG', 'STATUS', ''],
    results.map((result) => [result.catalogId, result.status, detailOf(result)]),
  );
  return [table, ...results.flatMap(renderProblems)].join('\n');
}

/** A line for each error and each warning. */
export function renderProblems(result: PublishResult | TriggerResult): string[] {
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

function detailOf(result: PublishResult | TriggerResult): string {
  if ('version' in result) return `version ${result.version}`;
  const count = 'stats' in result ? result.stats?.itemCount : undefined;
  return count === undefined ? '' : counted(count, 'resource');
}
