import type { Trouble } from '../../../../src/console/answers/health.ts';
import { useGet } from '../../api/load.ts';
import { Badge } from '../../ui/badge.tsx';
import { Show } from '../../ui/states.tsx';
import { Ago } from '../../ui/time.tsx';

/** Failures that last, each with what to do next. */
export function Troubles() {
  const list = useGet<{ items: Trouble[] }>('/api/health/troubles', {}, ['health', 'subscription']);
  return (
    <Show of={list} what="troubles">
      {({ items }) =>
        items.length > 0 && (
          <section class="panel stack troubles" aria-label="Troubles">
            <h2>
              Troubles <span class="count">{items.length}</span>
            </h2>
            <ul>
              {items.map(({ kind, role, what, since, next }) => (
                <li key={`${kind} ${what}`}>
                  <p class="trouble-head soft small">
                    <Badge tone="bad">{role}</Badge> began <Ago at={since} />
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
