import type { Master } from '../../../../src/console/answers/network.ts';
import { usePaged } from '../../api/load.ts';
import { hrefTo } from '../../router.ts';
import { NodeLink } from '../../ui/node-link.tsx';
import { type Column, PagedTable } from '../../ui/table.tsx';
import { spellCount } from '../../ui/time.tsx';

export function MastersTab() {
  const list = usePaged<Master>('/api/masters', {}, ['catalog']);
  return (
    <PagedTable
      list={list}
      caption="master catalogs"
      columns={columns}
      keyOf={({ owner, catalogId }) => `${owner} ${catalogId}`}
      empty="No master catalogs."
    />
  );
}

const columns: readonly Column<Master>[] = [
  {
    label: 'Master',
    cell: ({ owner, catalogId }) => (
      <a href={hrefTo('network', { tab: 'catalogs', owner, catalog: catalogId })}>{catalogId}</a>
    ),
  },
  { label: 'Owner', cell: ({ owner }) => owner && <NodeLink node={owner} /> },
  { label: 'Extended by', kind: 'number', cell: ({ dependentCount }) => spellCount(dependentCount) },
  {
    label: 'Catalogs that extend it',
    cell: ({ dependents, dependentCount }) => (
      <ul class="plain-list">
        {dependents.map(({ owner, catalogId }) => (
          <li key={`${owner} ${catalogId}`}>
            <a href={hrefTo('network', { tab: 'catalogs', owner: owner ?? undefined, catalog: catalogId })}>
              {catalogId}
            </a>{' '}
            <span class="soft small">{owner}</span>
          </li>
        ))}
        {dependentCount > dependents.length && (
          <li class="soft small">and {spellCount(dependentCount - dependents.length)} others</li>
        )}
      </ul>
    ),
  },
];
