import { useEffect } from 'preact/hooks';
import type {
  ProgressAnswer,
  PublishAnswer,
  PublishResult,
  PublishStep,
} from '../../../../src/console/answers/publish.ts';
import { useGet } from '../../api/load.ts';
import { hrefTo } from '../../router.ts';
import { Badge, toneOf } from '../../ui/badge.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Show } from '../../ui/states.tsx';
import { Ago } from '../../ui/time.tsx';

const icons: Record<PublishStep['state'], IconName> = { done: 'check', waiting: 'clock', failed: 'cross' };
const titles: Record<string, string> = {
  sent: 'Signed by the publisher and sent',
  ack: 'Acknowledged by the catalog service',
  processed: 'Processed',
  on_publish: 'Result returned by on_publish',
  pushed: 'Pushed to the discovery service',
  indexed: 'Indexed',
};

export function Progress({ sent }: { sent: PublishAnswer }) {
  const progress = useGet<ProgressAnswer>(`/api/publish/${encodeURIComponent(sent.messageId)}`, {}, [
    ...(['publish', 'catalog', 'delivery', 'crawl'] as const),
  ]);
  // A push to a discovery service that is down may wait for a day: the page does not poll it, because events report it.
  const waiting =
    progress.data?.steps.some(({ step, state }) => step !== 'pushed' && state === 'waiting') ?? false;
  useEffect(() => {
    if (!waiting) return;
    const timer = setInterval(progress.reload, pollMs);
    return () => clearInterval(timer);
  }, [waiting, progress.reload]);
  return (
    <Show of={progress} what="progress">
      {({ steps, results }) => (
        <div class="stack" role="status" aria-label="Progress">
          <ol class="progress">
            {steps.map((step) => (
              <li key={step.step} class={step.state}>
                <span class="progress-mark">
                  <Icon name={icons[step.state]} />
                </span>
                <span>
                  {titleOf(step, sent)} <span class="hidden">{step.state}</span>
                  {step.detail && <span class="soft small"> {step.detail}</span>}
                </span>
                <span class="soft small nowrap">{step.at && <Ago at={step.at} />}</span>
              </li>
            ))}
          </ol>
          <Results results={results ?? sent.results ?? []} />
        </div>
      )}
    </Show>
  );
}

function titleOf({ step }: PublishStep, { way }: PublishAnswer): string {
  if (step === 'sent' && way === 'files') return 'Signed files written';
  return titles[step] ?? step;
}

/** Events report most steps; the page polls the others. */
const pollMs = 1_000;

function Results({ results }: { results: readonly PublishResult[] }) {
  return (
    <ul class="stack">
      {results.map((result) => (
        <li key={result.catalogId} class="stack result-item">
          <p class="row">
            {result.status && <Badge tone={toneOf(result.status)}>{result.status}</Badge>}
            <strong>{result.catalogId}</strong>
            <a href={hrefTo('inspect', { q: result.catalogId })}>Inspect</a>
            <a href={hrefTo('find', { expression: resourcesOf(result.catalogId) })}>Find</a>
          </p>
          {[...(result.errors ?? []), ...(result.warnings ?? [])].map((fault) => (
            <p key={`${fault.details?.path} ${fault.message}`} class="small">
              {fault.message} {fault.details?.path && <code>{fault.details.path}</code>}
            </p>
          ))}
        </li>
      ))}
    </ul>
  );
}

function resourcesOf(catalogId: string): string {
  return `$.catalogs[?@.id == ${JSON.stringify(catalogId)}].resources[*]`;
}
