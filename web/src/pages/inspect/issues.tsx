import type { Issue } from '../../../../src/console/answers/inspect.ts';
import { Icon } from '../../ui/icon.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Ago, spellCount } from '../../ui/time.tsx';
import { csvOfIssues } from './api.ts';

export function IssueTable({ q, issues }: { q: string; issues: readonly Issue[] }) {
  if (issues.length === 0) return <Empty title="No issues are known." />;
  return (
    <>
      <Table
        caption="issues"
        columns={columns}
        rows={issues}
        keyOf={({ code, catalogId, path, message }) => `${code} ${catalogId} ${path} ${message}`}
      />
      <p>
        <a href={csvOfIssues(q)} download="issues.csv">
          <Icon name="link" /> As CSV
        </a>
      </p>
    </>
  );
}

const columns: readonly Column<Issue>[] = [
  { label: 'Code', cell: ({ code }) => <code>{code}</code> },
  {
    label: 'What is wrong',
    cell: ({ message, hint }) => (
      <div>
        <p>{message}</p>
        {hint && <p class="soft">{hint}</p>}
      </div>
    ),
  },
  {
    label: 'Where',
    cell: ({ catalogId, path }) => (
      <div>
        {catalogId && <p>{catalogId}</p>}
        {path && <code>{path}</code>}
      </div>
    ),
  },
  { label: 'Times', kind: 'number', cell: ({ count }) => spellCount(count) },
  { label: 'Last', kind: 'short', cell: ({ lastAt }) => lastAt && <Ago at={lastAt} /> },
];
