import type { ComponentChildren } from 'preact';
import type { CatalogSummary, CrawledNode } from '../../../../src/console/answers/network.ts';
import { get } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { hrefTo } from '../../router.ts';
import { Badge, toneOf } from '../../ui/badge.tsx';
import { NodeLink } from '../../ui/node-link.tsx';
import { Empty, Show } from '../../ui/states.tsx';

interface Known {
  nodes: CrawledNode[];
  catalogs: CatalogSummary[];
}

export function Suggestions() {
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

async function readKnown(signal: AbortSignal): Promise<Known> {
  const [nodes, catalogs] = await Promise.all([
    get<{ items: Known['nodes'] }>('/api/nodes', { limit: looked }, signal),
    get<{ items: Known['catalogs'] }>('/api/catalogs', { limit: shown }, signal),
  ]);
  const worstFirst = nodes.items.sort(
    (one, other) => other.failing - one.failing || other.catalogs - one.catalogs,
  );
  return { nodes: worstFirst.slice(0, shown), catalogs: catalogs.items };
}

const looked = 50;
const shown = 8;
