import type { LoggedIssue } from '../../storage/console/subjects.ts';
import type { ChainLink } from './chain.ts';

/** Something that is wrong, how often, and when last. */
export interface Issue {
  code: string;
  message: string;
  hint?: string;
  /** JSONPath, or the address of the document. */
  path?: string;
  catalogId?: string;
  count: number;
  lastAt?: string;
}

/** What the chain shows now, then what the crawl log and the publishes tell. */
export function gatherIssues(
  chain: readonly ChainLink[],
  logged: readonly LoggedIssue[],
  published: readonly Issue[],
): Issue[] {
  const past = logged.map(
    ({ code, message, hint, catalogId, url, count, lastAt }): Issue => ({
      ...{ code, message, count, lastAt: lastAt.toISOString() },
      ...(hint !== null && { hint }),
      ...(url !== null && { path: url }),
      ...(catalogId !== null && { catalogId }),
    }),
  );
  const now = chain.flatMap(({ code, detail, hint, url, catalogId, at }): Issue[] =>
    code === undefined ? [] : [{ code, message: detail, hint, path: url, catalogId, count: 1, lastAt: at }],
  );
  const isTold = (issue: Issue) =>
    [...past, ...published].some(
      ({ code, catalogId }) => code === issue.code && catalogId === issue.catalogId,
    );
  return [...published, ...now.filter((issue) => !isTold(issue)), ...past];
}

const columns = ['code', 'message', 'hint', 'path', 'catalogId', 'count', 'lastAt'] as const;

/** RFC 4180. A cell that a spreadsheet would take for a formula begins with an apostrophe. */
export function renderCsv(issues: readonly Issue[]): string {
  const rows = issues.map((issue) => columns.map((name) => cell(issue[name])));
  return [columns.join(','), ...rows.map((row) => row.join(','))].map((line) => `${line}\r\n`).join('');
}

function cell(value: string | number | undefined): string {
  const text = String(value ?? '');
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
