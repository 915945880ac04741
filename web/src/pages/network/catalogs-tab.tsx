import { useState } from 'preact/hooks';
import type { CatalogSummary } from '../../../../src/console/answers/network.ts';
import { usePaged } from '../../api/load.ts';
import { session } from '../../api/session.ts';
import { hrefTo, navigate, param } from '../../router.ts';
import { Badge, toneOf } from '../../ui/badge.tsx';
import { Choice } from '../../ui/choice.tsx';
import { NodeLink } from '../../ui/node-link.tsx';
import { onSubmit } from '../../ui/on-submit.ts';
import { type Column, PagedTable } from '../../ui/table.tsx';
import { Ago, spellCount } from '../../ui/time.tsx';
import { CatalogPanel } from './catalog-panel.tsx';

const columns: readonly Column<CatalogSummary>[] = [
  {
    label: 'Catalog',
    cell: ({ catalogId, owner, name, source }) => (
      <a href={hrefTo('network', { tab: 'catalogs', owner, catalog: catalogId, copy: source })}>
        {name ?? catalogId}
        {name && <span class="soft small block">{catalogId}</span>}
      </a>
    ),
  },
  { label: 'Owner', cell: ({ owner }) => owner && <NodeLink node={owner} /> },
  { label: 'State', kind: 'short', cell: ({ state }) => <Badge tone={toneOf(state)}>{state}</Badge> },
  { label: 'Source', kind: 'short', cell: ({ source }) => source },
  { label: 'Type', kind: 'short', cell: ({ type }) => type.toLowerCase() },
  { label: 'Resources', kind: 'number', cell: ({ resources }) => spellCount(resources) },
  { label: 'Offers', kind: 'number', cell: ({ offers }) => spellCount(offers) },
  { label: 'Version', kind: 'number', cell: ({ version }) => version },
  { label: 'Updated', kind: 'short', cell: ({ updatedAt }) => <Ago at={updatedAt} /> },
];

const sources = ['service', 'push', 'pull', 'crawl'];
const types = ['REGULAR', 'MASTER'];

export function CatalogsTab() {
  const [q, setQ] = useState(param('find'));
  const [network, type, source] = [param('network'), param('type'), param('source')];
  const list = usePaged<CatalogSummary>('/api/catalogs', { q: param('find'), network, type, source }, [
    'catalog',
  ]);
  const choose = (chosen: Record<string, string>) =>
    navigate('network', { tab: 'catalogs', find: q.trim(), network, type, source, ...chosen });
  const [owner, catalogId] = [param('owner'), param('catalog')];
  if (catalogId !== '') return <CatalogPanel owner={owner} catalogId={catalogId} source={param('copy')} />;
  return (
    <div class="stack">
      <form class="filters" onSubmit={onSubmit(() => choose({}))}>
        <label>
          <span>Id, name or owner</span>
          <input value={q} spellcheck={false} onInput={(event) => setQ(event.currentTarget.value)} />
        </label>
        <Choice
          label="Network"
          value={network}
          options={session.value?.networks ?? []}
          choose={(value) => choose({ network: value })}
        />
        <Choice label="Type" value={type} options={types} choose={(value) => choose({ type: value })} />
        <Choice
          label="Source"
          value={source}
          options={sources}
          choose={(value) => choose({ source: value })}
        />
        <button type="submit">Filter</button>
      </form>
      <PagedTable
        list={list}
        caption="catalogs"
        columns={columns}
        keyOf={({ owner: of, catalogId: id, source: by }) => `${by} ${of} ${id}`}
        empty="No catalogs."
        hint="Publish one, or choose other filters."
      />
    </div>
  );
}
