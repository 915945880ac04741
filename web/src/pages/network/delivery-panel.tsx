import type { DeliveryHistory } from '../../../../src/console/answers/network.ts';
import { useGet } from '../../api/load.ts';
import { hrefTo } from '../../router.ts';
import { Badge, toneOf } from '../../ui/badge.tsx';
import { Code } from '../../ui/code.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Show } from '../../ui/states.tsx';
import { Ago, spellMs } from '../../ui/time.tsx';

/** One delivery with its last requests and their answers, the latest first. Its address stays valid. */
export function DeliveryPanel({ id }: { id: string }) {
  const delivery = useGet<DeliveryHistory>(`/api/deliveries/${id}`, {}, ['delivery']);
  return (
    <Show of={delivery} what="delivery">
      {(data) => (
        <div class="stack">
          <p>
            <a href={hrefTo('network', { tab: 'deliveries', receiver: data.receiver })}>
              All deliveries to {data.receiver}
            </a>
          </p>
          <h2>
            {id} <Badge tone={toneOf(data.detail)}>{data.detail}</Badge>
          </h2>
          <About delivery={data} />
          {data.history.length === 0 ? (
            <p class="soft">No request of this delivery has failed.</p>
          ) : (
            <ol class="attempts stack">
              {[...data.history].reverse().map((exchange) => (
                <Exchange key={exchange.at} {...exchange} />
              ))}
            </ol>
          )}
        </div>
      )}
    </Show>
  );
}

function About({ delivery }: { delivery: DeliveryHistory }) {
  const { action, about, attempts, failingSince, nextTryAt, lastStatus, lastError } = delivery;
  const failing = failingSince && (
    <>
      , failing since <Ago at={failingSince} />
    </>
  );
  return (
    <Facts
      facts={[
        ['What', `${action} ${about}`],
        ['Attempts', [attempts, failing]],
        ['Last answer', lastError ?? lastStatus ?? 'none yet'],
        ['Next try', nextTryAt && <Ago at={nextTryAt} />],
      ]}
    />
  );
}

function Exchange({ at, durationMs, url, status, answer, request }: DeliveryHistory['history'][number]) {
  const isGood = status !== undefined && status < 300;
  return (
    <li class="stack">
      <p>
        <Badge tone={isGood ? 'good' : 'bad'}>{status ?? 'no answer'}</Badge> <Ago at={at} />, in{' '}
        {spellMs(durationMs)} <span class="soft small">{url}</span>
      </p>
      {answer !== '' && <Code label={`the answer at ${at}`} text={answer} />}
      <details>
        <summary>Beginning of the request</summary>
        <Code label={`the request at ${at}`} text={request} />
      </details>
    </li>
  );
}
