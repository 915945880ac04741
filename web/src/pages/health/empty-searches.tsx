import type { EmptySearch } from '../../../../src/console/answers/health.ts';
import { usePaged } from '../../api/paged.ts';
import { Empty } from '../../ui/states.tsx';
import { type Column, PagedTable } from '../../ui/table.tsx';
import { Ago, spellCount } from '../../ui/time.tsx';
import { Intent } from './intent.tsx';

/** Searches without a result, and the near misses of each. */
export function EmptySearches() {
  const list = usePaged<EmptySearch>('/api/health/empty-searches', {}, ['health']);
  return (
    <section class="panel stack empty-searches">
      <h2>Searches that found nothing</h2>
      <PagedTable
        list={list}
        caption="searches that found nothing"
        columns={columns}
        keyOf={({ at, intent }) => `${at} ${JSON.stringify(intent)}`}
        empty={<Empty title="No search without a result." />}
      />
    </section>
  );
}

const columns: readonly Column<EmptySearch>[] = [
  { label: 'Looked for', cell: (search) => <Intent search={search} /> },
  {
    label: 'What came close',
    cell: ({ nearMisses }) => nearMisses?.map(({ message }) => message).join(' '),
  },
  { label: 'Network', cell: ({ networkId }) => networkId },
  { label: 'Times', kind: 'number', cell: ({ times }) => spellCount(times) },
  { label: 'Last', kind: 'short', cell: ({ at }) => <Ago at={at} /> },
];
