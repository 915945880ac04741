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
            <section class="panel stack" aria-labelledby="nodes-title">
              <h2 id="nodes-title">Nodes</h2>
              <ul class="stack">
                {nodes.map(({ node, state, failing }) => (
                  <li key={node} class="spread">
                    <NodeLink node={node} />
                    <Badge tone={failing > 0 ? 'bad' : toneOf(state)}>
                      {failing > 0 ? `${failing} failing` : state}
                    </Badge>
                  </li>
                ))}
              </ul>
              <p>
                <a href={hrefTo('network', { tab: 'nodes' })}>All nodes</a>
              </p>
            </section>
            <section class="panel stack" aria-labelledby="catalogs-title">
              <h2 id="catalogs-title">Catalogs</h2>
              <ul class="stack">
                {catalogs.map(({ catalogId, name, owner }) => (
                  <li key={`${owner} ${catalogId}`} class="spread">
                    <a href={hrefTo('inspect', { q: catalogId })}>{name ?? catalogId}</a>
                    <span class="soft small">{owner}</span>
                  </li>
                ))}
              </ul>
              <p>
                <a href={hrefTo('network', { tab: 'catalogs' })}>All catalogs</a>
              </p>
            </section>
          </div>
        )
      }
    </Show>
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
