import type { LoggedIssue } from '../../storage/console/subjects.ts';
import type { ChainLink, Issue } from '../answers/inspect.ts';

export function gatherIssues(
  chain: readonly ChainLink[],
  logged: readonly LoggedIssue[],
  published: readonly Issue[],
): Issue[] {
  const past = logged.map(
    ({ hint, catalogId, url, lastAt, ...rest }): Issue => ({
      ...{ ...rest, lastAt: lastAt.toISOString() },
      ...{ hint: hint ?? undefined, path: url ?? undefined, catalogId: catalogId ?? undefined },
    }),
  );
  const now = chain.flatMap(({ code, detail, hint, url, catalogId, at }): Issue[] =>
    code === undefined ? [] : [{ code, message: detail, hint, path: url, catalogId, count: 1, lastAt: at }],
  );
  const isTold = (one: Issue) =>
    [...past, ...published].some(({ code, catalogId }) => code === one.code && catalogId === one.catalogId);
  return [...published, ...now.filter((issue) => !isTold(issue)), ...past];
}

const columns = ['code', 'message', 'hint', 'path', 'catalogId', 'count', 'lastAt'] as const;

/** RFC 4180. A cell that spreadsheets would read as a formula gets an apostrophe. */
export function renderCsv(issues: readonly Issue[]): string {
  const rows = issues.map((issue) => columns.map((name) => cell(issue[name])));
  return [columns.join(','), ...rows.map((row) => row.join(','))].map((line) => `${line}\r\n`).join('');
}

function cell(value: string | number | undefined): string {
  const text = String(value ?? '');
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
