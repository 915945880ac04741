import type { Delivery, DeliveryHistory, Receiver, Replay } from '../../../../src/console/answers/network.ts';
import { post } from '../../api/client.ts';
import { useGet, usePaged } from '../../api/load.ts';
import { hrefTo, navigate, param } from '../../router.ts';
import { Badge, toneOf } from '../../ui/badge.tsx';
import { Choice } from '../../ui/choice.tsx';
import { Code } from '../../ui/code.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Identity } from '../../ui/node-link.tsx';
import { Show } from '../../ui/states.tsx';
import { type Column, PagedTable } from '../../ui/table.tsx';
import { Ago, spellCount, spellMs } from '../../ui/time.tsx';
import { attempt } from '../../ui/toasts.tsx';

/** The receivers with their waiting and parked deliveries, failures first; each links to its deliveries. */
export function DeliveriesTab() {
  const delivery = param('delivery');
  if (delivery !== '') return <DeliveryPanel id={delivery} />;
  const receiver = param('receiver');
  return receiver === '' ? <Receivers /> : <DeliveriesOf receiver={receiver} />;
}

const receiverColumns: readonly Column<Receiver>[] = [
  {
    label: 'Receiver',
    cell: ({ receiver }) => (
      <a href={hrefTo('network', { tab: 'deliveries', receiver })}>
        <Identity of={receiver} />
      </a>
    ),
  },
  { label: 'Gets', kind: 'short', cell: ({ kind }) => (kind === 'push' ? 'pushes' : 'callbacks') },
  { label: 'Waiting', kind: 'number', cell: ({ waiting }) => spellCount(waiting) },
  {
    label: 'Parked',
    kind: 'number',
    cell: ({ parked }) => (parked > 0 ? <Badge tone="bad">{spellCount(parked)}</Badge> : '0'),
  },
  { label: 'Oldest', kind: 'short', cell: ({ oldestWaitingAt: at }) => at && <Ago at={at} /> },
  { label: 'Last answer', cell: ({ lastAnswer }) => lastAnswer && <LastAnswer answer={lastAnswer} /> },
  { label: 'Next try', kind: 'short', cell: ({ nextTryAt }) => nextTryAt && <Ago at={nextTryAt} /> },
];

function LastAnswer({ answer: { at, status, error } }: { answer: NonNullable<Receiver['lastAnswer']> }) {
  return (
    <span>
      {error ?? status}{' '}
      {at && (
        <span class="soft small">
          <Ago at={at} />
        </span>
      )}
    </span>
  );
}

function Receivers() {
  const state = param('state');
  const list = usePaged<Receiver>('/api/receivers', { state }, ['delivery']);
  return (
    <div class="stack">
      <div class="filters">
        <Choice
          label="Receivers with"
          value={state}
          options={['open', 'parked']}
          choose={(chosen) => navigate('network', { tab: 'deliveries', state: chosen })}
        />
        <button type="button" onClick={() => void replayAll()}>
          Replay all parked deliveries
        </button>
      </div>
      <PagedTable
        list={list}
        caption="receivers"
        columns={receiverColumns}
        keyOf={({ receiver, kind }) => `${kind} ${receiver}`}
        empty="Nothing is waiting."
        hint="Callbacks and pushes appear here as soon as there are any."
      />
    </div>
  );
}

function replayAll(receiver?: string): Promise<boolean> {
  return attempt(async () => {
    const { callbacks, pushes } = await post<Replay>('/api/deliveries/replay', { receiver });
    return `To be retried: ${spellCount(callbacks)} callbacks, ${spellCount(pushes)} pushes.`;
  });
}

const states = ['open', 'parked', 'delivered'];

function DeliveriesOf({ receiver }: { receiver: string }) {
  const state = param('state');
  const list = usePaged<Delivery>('/api/deliveries', { receiver, state }, ['delivery']);
  const act: Act = (id, verb) =>
    attempt(async () => {
      await post(`/api/deliveries/${id}/${verb}`);
      list.reload();
      return verb === 'replay' ? `${id} will be tried again.` : `Skipped ${id}.`;
    });
  return (
    <div class="stack">
      <p>
        <a href={hrefTo('network', { tab: 'deliveries' })}>All receivers</a>
      </p>
      <h2>{receiver}</h2>
      <div class="filters">
        <Choice
          label="State"
          value={state}
          options={states}
          choose={(chosen) => navigate('network', { tab: 'deliveries', receiver, state: chosen })}
        />
        <button type="button" onClick={() => void replayAll(receiver)}>
          Replay its parked deliveries
        </button>
      </div>
      <PagedTable
        list={list}
        caption="deliveries"
        columns={deliveryColumns(act)}
        keyOf={({ id }) => id}
        empty="No deliveries."
      />
    </div>
  );
}

type Act = (id: string, verb: 'replay' | 'skip') => Promise<boolean>;

function deliveryColumns(act: Act): readonly Column<Delivery>[] {
  return [
    {
      label: 'Delivery',
      cell: ({ id }) => <a href={hrefTo('network', { tab: 'deliveries', delivery: id })}>{id}</a>,
    },
    { label: 'State', kind: 'short', cell: ({ state }) => <Badge tone={toneOf(state)}>{state}</Badge> },
    {
      label: 'What',
      cell: ({ action, about }) => (
        <span>
          {action} <span class="soft small block">{about}</span>
        </span>
      ),
    },
    { label: 'Form', kind: 'short', cell: ({ form }) => form },
    { label: 'Attempts', kind: 'number', cell: ({ attempts }) => attempts },
    { label: 'Failing since', kind: 'short', cell: ({ failingSince: at }) => at && <Ago at={at} /> },
    { label: 'Next try', kind: 'short', cell: ({ nextTryAt }) => nextTryAt && <Ago at={nextTryAt} /> },
    { label: 'Last error', cell: ({ lastError }) => lastError },
    {
      label: 'Actions',
      cell: ({ id, state }) =>
        state !== 'delivered' && (
          <span class="actions">
            {state === 'parked' && (
              <button type="button" onClick={() => void act(id, 'replay')}>
                Replay<span class="hidden"> {id}</span>
              </button>
            )}
            <button type="button" onClick={() => void act(id, 'skip')}>
              Skip<span class="hidden"> {id}</span>
            </button>
          </span>
        ),
    },
  ];
}

/** One delivery with its last requests and their answers, the latest first. Its address stays valid. */
function DeliveryPanel({ id }: { id: string }) {
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
            <p class="soft">No attempt of this delivery has failed.</p>
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
