import type { Duplicate } from '../../../../src/console/answers/health.ts';
import { get } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { NodeLink } from '../../ui/node-link.tsx';
import { Show } from '../../ui/states.tsx';

/** Chargers that two nodes publish, each pair of nodes with what to do next. */
export function Duplicates() {
  const list = useLoad(
    'duplicates',
    (signal) => get<{ items: Duplicate[] }>('/api/health/duplicates', {}, signal),
    ['health'],
  );
  return (
    <Show of={list} what="duplicates">
      {({ items }) =>
        items.length > 0 && (
          <section class="panel stack troubles" aria-label="Chargers published twice">
            <h2>
              Chargers published twice <span class="count">{items.length}</span>
            </h2>
            <ul>
              {items.map(({ nodes, what, next }) => (
                <li key={what}>
                  <p class="trouble-head small">
                    {nodes.map((node) => (
                      <NodeLink key={node} node={node} />
                    ))}
                  </p>
                  <p class="trouble-what">{what}</p>
                  <p>
                    <span class="soft">Next step:</span> {next}
                  </p>
                </li>
              ))}
            </ul>
          </section>
        )
      }
    </Show>
  );
}
