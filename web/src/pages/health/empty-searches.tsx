import type { EmptySearch } from '../../../../src/console/answers/health.ts';
import { usePaged } from '../../api/load.ts';
import { hrefTo } from '../../router.ts';
import { type DiscoverMessage, readIntent, type SpatialEntry } from '../../search/intent.ts';
import { toParams } from '../../search/query.ts';
import { type Column, PagedTable } from '../../ui/table.tsx';
import { Ago, spellCount, spellMeters } from '../../ui/time.tsx';

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
        empty="Every search found something."
      />
    </section>
  );
}

const columns: readonly Column<EmptySearch>[] = [
  { label: 'Searched for', cell: (search) => <Intent search={search} /> },
  { label: 'Near misses', cell: ({ nearMisses }) => nearMisses?.map(({ message }) => message).join(' ') },
  { label: 'Network', cell: ({ networkId }) => networkId },
  { label: 'Times', kind: 'number', cell: ({ times }) => spellCount(times) },
  { label: 'Last', kind: 'short', cell: ({ at }) => <Ago at={at} /> },
];

function Intent({ search: { intent: stored, networkId = '' } }: { search: EmptySearch }) {
  const intent: DiscoverMessage['intent'] = stored;
  const { textSearch, filters, spatial = [] } = intent;
  const query = readIntent(intent);
  const isKnown = textSearch !== undefined || filters !== undefined || spatial.length > 0;
  return (
    <div class="intent">
      {textSearch !== undefined && <p>“{textSearch}”</p>}
      {filters && (
        <p>
          <span class="soft small">where </span>
          <code>{filters.expression}</code>
        </p>
      )}
      {spatial.map((entry) => (
        <p key={JSON.stringify(entry)}>{spellArea(entry)}</p>
      ))}
      {query && isKnown ? (
        <a class="small" href={hrefTo('find', toParams({ ...query, network: networkId }))}>
          Search again
          <span class="hidden"> for {textSearch ?? 'this'}</span>
        </a>
      ) : (
        <details>
          <summary class="small">As JSON</summary>
          <code>{JSON.stringify(intent)}</code>
        </details>
      )}
    </div>
  );
}

function spellArea({ op, geometry, distanceMeters }: SpatialEntry): string {
  const [longitude, latitude] = geometry.type === 'Point' ? geometry.coordinates : [];
  const isPoint = latitude !== undefined && longitude !== undefined;
  const place = isPoint ? `${latitude.toFixed(4)}, ${longitude.toFixed(4)}` : `a ${geometry.type}`;
  if (op === 'S_DWITHIN' && distanceMeters !== undefined)
    return `within ${spellMeters(distanceMeters)} of ${place}`;
  return op === 'S_INTERSECTS' ? `in ${place}` : `${op} ${place}`;
}
