import type { ComponentChildren } from 'preact';
import type { Duplicate, Trouble } from '../../../../src/console/answers/health.ts';
import { useGet } from '../../api/load.ts';
import { Badge } from '../../ui/badge.tsx';
import { NodeLink } from '../../ui/node-link.tsx';
import { Show } from '../../ui/states.tsx';
import { Ago } from '../../ui/time.tsx';

export function Troubles() {
  const troubles = useGet<{ items: Trouble[] }>('/api/health/troubles', {}, ['health', 'subscription']);
  const duplicates = useGet<{ items: Duplicate[] }>('/api/health/duplicates', {}, ['health']);
  return (
    <>
      <Show of={troubles} what="troubles">
        {({ items }) => (
          <TroubleList
            title="Troubles"
            items={items}
            head={({ role, since }) => (
              <p class="trouble-head soft small">
                <Badge tone="bad">{role}</Badge> began <Ago at={since} />
              </p>
            )}
          />
        )}
      </Show>
      <Show of={duplicates} what="duplicates">
        {({ items }) => (
          <TroubleList
            title="Chargers published twice"
            items={items}
            head={({ nodes }) => (
              <p class="trouble-head small">
                {nodes.map((node) => (
                  <NodeLink key={node} node={node} />
                ))}
              </p>
            )}
          />
        )}
      </Show>
    </>
  );
}

interface ListProps<T> {
  title: string;
  items: readonly T[];
  head(item: T): ComponentChildren;
}

function TroubleList<T extends { what: string; next: string }>({ title, items, head }: ListProps<T>) {
  if (items.length === 0) return null;
  return (
    <section class="panel stack troubles" aria-label={title}>
      <h2>
        {title} <span class="count">{items.length}</span>
      </h2>
      <ul>
        {items.map((item, index) => (
          <li key={`${index} ${item.what}`}>
            {head(item)}
            <p class="trouble-what">{item.what}</p>
            <p>
              <span class="soft">Next step:</span> {item.next}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
