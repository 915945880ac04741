import { Icon } from '../../ui/icon.tsx';
import { Empty } from '../../ui/states.tsx';
import { Ago, spellCount } from '../../ui/time.tsx';
import { csvOfIssues, type Issue } from './api.ts';

export function IssueTable({ q, issues }: { q: string; issues: readonly Issue[] }) {
  if (issues.length === 0) return <Empty title="No issues are known." />;
  return (
    <>
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">Code</th>
            <th scope="col">What is wrong, and what to do</th>
            <th scope="col">Where</th>
            <th scope="col" class="number">
              Times
            </th>
            <th scope="col">Last</th>
          </tr>
        </thead>
        <tbody>
          {issues.map((issue) => (
            <tr key={`${issue.code} ${issue.catalogId} ${issue.path} ${issue.message}`}>
              <td data-label="Code">
                <code>{issue.code}</code>
              </td>
              <td data-label="What">
                <div>
                  <p>{issue.message}</p>
                  {issue.hint && <p class="soft">{issue.hint}</p>}
                </div>
              </td>
              <td data-label="Where">
                <div>
                  {issue.catalogId && <p>{issue.catalogId}</p>}
                  {issue.path && <code>{issue.path}</code>}
                </div>
              </td>
              <td data-label="Times" class="number">
                {spellCount(issue.count)}
              </td>
              <td data-label="Last" class="nowrap">
                {issue.lastAt && <Ago at={issue.lastAt} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        <a href={csvOfIssues(q)} download="issues.csv">
          <Icon name="link" /> As CSV
        </a>
      </p>
    </>
  );
}
