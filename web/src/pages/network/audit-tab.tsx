import type { AuditLine } from '../../../../src/console/answers/network.ts';
import { usePaged } from '../../api/load.ts';
import { Badge } from '../../ui/badge.tsx';
import { type Column, PagedTable } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';

export function AuditTab() {
  const list = usePaged<AuditLine>('/api/audit', {}, ['delivery', 'crawl', 'publish']);
  return (
    <PagedTable
      list={list}
      caption="actions"
      columns={columns}
      keyOf={({ id }) => String(id)}
      empty="Nothing has been changed yet."
      hint="Replays, skips, crawls and publishes appear here."
    />
  );
}

const columns: readonly Column<AuditLine>[] = [
  { label: 'When', kind: 'short', cell: ({ at }) => <Ago at={at} /> },
  { label: 'Action', cell: ({ action }) => action },
  { label: 'Target', cell: ({ target }) => target },
  {
    label: 'Outcome',
    kind: 'short',
    cell: ({ outcome }) => <Badge tone={outcome === 'done' ? 'good' : 'bad'}>{outcome}</Badge>,
  },
  { label: 'Operator', cell: ({ operator, from }) => (from ? `${operator}, ${from}` : operator) },
];
