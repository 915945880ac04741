import type { DeliveryHistory } from '../../../../src/console/answers/network.ts';
import { get } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { hrefTo } from '../../router.ts';
import { Badge, toneOf } from '../../ui/badge.tsx';
import { Code } from '../../ui/code.tsx';
import { Show } from '../../ui/states.tsx';
import { Ago, spellMs } from '../../ui/time.tsx';

/** One delivery with its last requests and their answers, the latest first. Its address stays valid. */
export function DeliveryPanel({ id }: { id: string }) {
  const path = `/api/deliveries/${id}`;
  const delivery = useLoad(path, (signal) => get<DeliveryHistory>(path, {}, signal), ['delivery']);
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
          <Facts delivery={data} />
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

function Facts({ delivery }: { delivery: DeliveryHistory }) {
  const { action, about, attempts, failingSince, nextTryAt, lastStatus, lastError } = delivery;
  return (
    <dl class="facts">
      <dt>What</dt>
      <dd>
        {action} {about}
      </dd>
      <dt>Attempts</dt>
      <dd>
        {attempts}
        {failingSince && (
          <>
            , failing since <Ago at={failingSince} />
          </>
        )}
      </dd>
      <dt>Last answer</dt>
      <dd>{lastError ?? lastStatus ?? 'none yet'}</dd>
      {nextTryAt && (
        <>
          <dt>Next try</dt>
          <dd>
            <Ago at={nextTryAt} />
          </dd>
        </>
      )}
    </dl>
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
