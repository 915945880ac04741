import { useState } from 'preact/hooks';
import type { CatalogDetails, CatalogDifference } from '../../../../src/console/answers/network.ts';
import { useGet } from '../../api/load.ts';
import { hrefTo } from '../../router.ts';
import { Badge, toneOf } from '../../ui/badge.tsx';
import { Changes } from '../../ui/changes.tsx';
import { Code } from '../../ui/code.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Empty, Show } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Ago, spellCount } from '../../ui/time.tsx';

/** One catalog: its facts, its versions with their changed documents, and its document. The index may have a copy besides the service's. */
export function CatalogPanel({ owner, catalogId, source }: Record<'owner' | 'catalogId' | 'source', string>) {
  const path = `/api/catalogs/${encodeURIComponent(owner)}/${encodeURIComponent(catalogId)}`;
  const catalog = useGet<CatalogDetails>(path, { source }, ['catalog']);
  return (
    <div class="stack">
      <p>
        <a href={hrefTo('network', { tab: 'catalogs' })}>All catalogs</a>
      </p>
      <Show of={catalog} what="catalog">
        {(data) => (
          <>
            <About catalog={data} />
            <Extending directives={data.resourceDirectives} />
            <Versions path={path} catalogId={catalogId} versions={data.versions} />
            <details>
              <summary>Document</summary>
              <Code label="the catalog as JSON" text={JSON.stringify(data.document, null, 2)} />
            </details>
          </>
        )}
      </Show>
    </div>
  );
}

function About({ catalog }: { catalog: CatalogDetails }) {
  const { catalogId, name, owner, source, networks, type, schemaTypes, state } = catalog;
  return (
    <>
      <h2>
        {name ?? catalogId} <Badge tone={toneOf(state)}>{state}</Badge>
      </h2>
      <Facts
        facts={[
          ['Id', <a href={hrefTo('inspect', { q: catalogId })}>{catalogId}</a>],
          ['Owner', <a href={hrefTo('inspect', { q: owner })}>{owner}</a>],
          ['Source', source],
          ['Type', type],
          ['Networks', networks.join(', ') || 'none'],
          ['Schema types', schemaTypes.join(', ') || 'none'],
          ['Content', spellContent(catalog)],
        ]}
      />
    </>
  );
}

function spellContent({ resources, offers, version }: CatalogDetails): string {
  const content = `${spellCount(resources)} resources, ${spellCount(offers)} offers`;
  return version === undefined ? content : `${content}, version ${version}`;
}

/** Shows which master resources the resources extend; the document lacks that. */
function Extending({ directives }: { directives: readonly Directive[] }) {
  if (directives.length === 0) return null;
  return (
    <section class="stack">
      <h3>What it extends</h3>
      <Table
        caption="resources that extend master resources"
        columns={extendingColumns}
        rows={directives}
        keyOf={({ resourceId }) => resourceId}
      />
    </section>
  );
}

type Directive = CatalogDetails['resourceDirectives'][number];

const extendingColumns: readonly Column<Directive>[] = [
  { label: 'Resource', cell: ({ resourceId }) => resourceId },
  { label: 'Extends', cell: ({ extends: { masterResourceId } }) => masterResourceId },
  {
    label: 'Variant',
    cell: ({ variant }) =>
      variant && (
        <>
          {variant.label ?? variant.id}{' '}
          <span class="soft small">
            {variant.type} {variant.id}
          </span>
        </>
      ),
  },
];

type VersionsProps = { path: string; catalogId: string; versions: CatalogDetails['versions'] };

function Versions({ path, catalogId, versions }: VersionsProps) {
  const [pair, setPair] = useState<{ from: number; to: number }>();
  if (versions.length === 0)
    return (
      <Empty title="No versions are known.">
        Only the catalog service that this copy came from has its versions.
      </Empty>
    );
  return (
    <section class="stack">
      <h3>Versions</h3>
      <p class="soft small">
        Earlier documents are not kept. For two versions, the page shows which documents changed, and their
        current content. <a href={hrefTo('inspect', { q: catalogId })}>Inspect</a> compares what is indexed
        with what is published.
      </p>
      <ul class="versions plain-list">
        {versions.map(({ version, at, by, status }, place) => {
          const before = versions[place + 1];
          return (
            <li key={version}>
              <strong>Version {version}</strong> <Ago at={at} /> {by && <span class="soft">by {by}</span>}{' '}
              {status && <Badge tone={toneOf(status)}>{status}</Badge>}
              {before && (
                <button
                  type="button"
                  aria-pressed={pair?.to === version}
                  onClick={() => setPair({ from: before.version, to: version })}
                >
                  Changed since {before.version}
                </button>
              )}
            </li>
          );
        })}
      </ul>
      {pair && <Comparison path={path} {...pair} />}
    </section>
  );
}

function Comparison({ path, from, to }: { path: string; from: number; to: number }) {
  const difference = useGet<CatalogDifference>(`${path}/difference`, { from, to });
  return (
    <Show of={difference} what="difference">
      {({ changes, truncated, removed }) => (
        <>
          {removed > 0 && (
            <p>
              {removed === 1 ? 'One document was' : `${spellCount(removed)} documents were`} removed. Which
              ones is not known.
            </p>
          )}
          {(changes.length > 0 || removed === 0) && <Changes changes={changes} truncated={truncated} />}
        </>
      )}
    </Show>
  );
}
