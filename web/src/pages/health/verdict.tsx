import type { Health } from '../../../../src/console/answers/health.ts';
import { useGet } from '../../api/load.ts';
import { hrefTo } from '../../router.ts';
import { Badge } from '../../ui/badge.tsx';
import { Show } from '../../ui/states.tsx';

export function Verdict() {
  const health = useGet<Health>('/api/health', {}, ['health', 'delivery']);
  return (
    <Show of={health} what="verdict">
      {({ healthy, reasons, processes }) => (
        <section class="panel stack" aria-label="Verdict" role="status">
          <p class="trouble-head">
            <Badge tone={healthy ? 'good' : 'bad'}>{healthy ? 'Healthy' : 'Not healthy'}</Badge>
            {healthy &&
              'The registry has every key, every subscription works, nothing is parked, and the goals are met.'}
          </p>
          {reasons.length > 0 && (
            <ul class="reasons">
              {reasons.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
          )}
          {reasons.some((reason) => reason.startsWith('Deliveries')) && (
            <p>
              <a href={hrefTo('network', { tab: 'deliveries', state: 'parked' })}>Show parked deliveries</a>
            </p>
          )}
          <ul class="soft small">
            {processes.map(({ process, roles, version }) => (
              <li key={process}>
                Signpost {version}: {roles.join(', ')} <code>{process.slice(0, 8)}</code>
              </li>
            ))}
          </ul>
        </section>
      )}
    </Show>
  );
}
