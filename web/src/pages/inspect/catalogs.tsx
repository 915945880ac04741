import type { ChainLink, Copy, InspectedCatalog } from '../../../../src/console/answers/inspect.ts';
import { Badge, toneOf } from '../../ui/badge.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';
import { chainOf, explainVerdict } from './verdict.ts';

interface CatalogsProps {
  catalogs: readonly InspectedCatalog[];
  chain: readonly ChainLink[];
  chosen?: string;
  choose(catalogId: string): void;
}

export function CatalogTable({ catalogs, chain, chosen, choose }: CatalogsProps) {
  const columns: readonly Column<InspectedCatalog>[] = [
    {
      label: 'Catalog',
      cell: ({ catalogId }) => (
        <button
          type="button"
          class="link"
          aria-pressed={catalogId === chosen}
          onClick={() => choose(catalogId)}
        >
          {catalogId}
        </button>
      ),
    },
    {
      label: 'Verdict',
      cell: ({ catalogId, verdict, because }) => {
        const reason = explainVerdict(chainOf(chain, catalogId), because);
        return (
          <div>
            <Badge tone={toneOf(verdict)}>{verdict === 'not' ? 'not discoverable' : verdict}</Badge>
            {reason && <p class="soft small">{reason}</p>}
          </div>
        );
      },
    },
    { label: 'Indexed', cell: ({ indexedVersion }) => indexedVersion ?? '–' },
    { label: 'Live now', cell: ({ liveVersion }) => liveVersion ?? '–' },
    { label: 'Source', cell: ({ source }) => source },
  ];
  return (
    <Table
      caption="catalogs"
      columns={columns}
      rows={catalogs}
      keyOf={({ catalogId }) => catalogId}
      isChosen={({ catalogId }) => catalogId === chosen}
    />
  );
}

export function CopyTable({ copies }: { copies: readonly Copy[] }) {
  return <Table caption="copies" columns={copyColumns} rows={copies} keyOf={({ discovery }) => discovery} />;
}

const copyColumns: readonly Column<Copy>[] = [
  { label: 'Discovery service', cell: ({ discovery }) => discovery },
  { label: 'Version', cell: ({ version }) => version ?? '–' },
  { label: 'Acknowledged', cell: ({ acknowledgedAt }) => <Ago at={acknowledgedAt} /> },
  { label: 'State', kind: 'short', cell: ({ state }) => <Badge tone={toneOf(state)}>{state}</Badge> },
];
