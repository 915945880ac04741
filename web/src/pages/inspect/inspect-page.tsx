import type { Inspection } from '../../../../src/console/answers/inspect.ts';
import { useGet, useLoad } from '../../api/load.ts';
import { hrefTo, navigate, param } from '../../router.ts';
import { QueryBar } from '../../ui/query-bar.tsx';
import { Empty, Show } from '../../ui/states.tsx';
import { Report } from './report.tsx';
import './inspect.css';
import type { ComponentChildren } from 'preact';
import type { CatalogSummary, CrawledNode } from '../../../../src/console/answers/network.ts';
import { get } from '../../api/client.ts';
import { Badge, toneOf } from '../../ui/badge.tsx';
import { NodeLink } from '../../ui/node-link.tsx';

/** Shows a provider whether it is discoverable and, if not, which link of the chain is broken. */
export default function InspectPage() {
  const q = param('q');
  const network = param('network');
  const path = q === '' ? undefined : '/api/inspect';
  const answer = useGet<Inspection>(path, { q, network }, ['catalog', 'crawl', 'delivery']);
  return (
    <>
      <header class="page-head">
        <h1>Inspect</h1>
        <p>Is a node, a catalog or a resource discoverable, and if not, where does the chain break?</p>
      </header>
      <div class="stack">
        <QueryBar
          label="Node, catalog, resource or address"
          placeholder="Node, catalog or resource"
          button="Inspect"
          value={q}
          submit={(text) => navigate('inspect', { q: text, network })}
        />
        {q === '' ? (
          <Suggestions />
        ) : (
          <Show of={answer} what="inspection">
            {(data) =>
              data.kind === 'unknown' ? (
                <Empty title={`“${q}” is not known here.`}>
                  {data.because ?? 'No node, catalog or resource of this network has this name.'}{' '}
                  {data.nextStep}
                </Empty>
              ) : (
                <Report key={q} q={q} answer={data} reload={answer.reload} />
              )
            }
          </Show>
        )}
      </div>
    </>
  );
}

function Suggestions() {
  const known = useLoad('suggestions', readKnown, ['crawl', 'catalog']);
  return (
    <Show of={known} what="nodes and catalogs">
      {({ nodes, catalogs }) =>
        nodes.length + catalogs.length === 0 ? (
          <Empty title="There is nothing to inspect yet.">
            Nothing was published, and no node was crawled.
          </Empty>
        ) : (
          <div class="suggestions">
            <Section title="Nodes" tab="nodes">
              {nodes.map(({ node, state, failing }) => (
                <li key={node} class="spread">
                  <NodeLink node={node} />
                  <Badge tone={failing > 0 ? 'bad' : toneOf(state)}>
                    {failing > 0 ? `${failing} failing` : state}
                  </Badge>
                </li>
              ))}
            </Section>
            <Section title="Catalogs" tab="catalogs">
              {catalogs.map(({ catalogId, name, owner }) => (
                <li key={`${owner} ${catalogId}`} class="spread">
                  <a href={hrefTo('inspect', { q: catalogId })}>{name ?? catalogId}</a>
                  <span class="soft small">{owner}</span>
                </li>
              ))}
            </Section>
          </div>
        )
      }
    </Show>
  );
}

function Section({ title, tab, children }: { title: string; tab: string; children: ComponentChildren }) {
  return (
    <section class="panel stack" aria-label={title}>
      <h2>{title}</h2>
      <ul class="stack">{children}</ul>
      <p>
        <a href={hrefTo('network', { tab })}>All {tab}</a>
      </p>
    </section>
  );
}

async function readKnown(signal: AbortSignal) {
  const [nodes, catalogs] = await Promise.all([
    get<{ items: CrawledNode[] }>('/api/nodes', { limit: looked }, signal),
    get<{ items: CatalogSummary[] }>('/api/catalogs', { limit: shown }, signal),
  ]);
  const worstFirst = nodes.items.sort(
    (one, other) => other.failing - one.failing || other.catalogs - one.catalogs,
  );
  return { nodes: worstFirst.slice(0, shown), catalogs: catalogs.items };
}

const looked = 50;
const shown = 8;
