import { useState } from 'preact/hooks';
import type { Participant } from '../../../../src/console/answers/network.ts';
import { usePaged } from '../../api/load.ts';
import { navigate, param } from '../../router.ts';
import { Badge, toneOf } from '../../ui/badge.tsx';
import { NodeLink } from '../../ui/node-link.tsx';
import { onSubmit } from '../../ui/on-submit.ts';
import { type Column, PagedTable } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';

export function ParticipantsTab() {
  const [q, setQ] = useState(param('find'));
  const list = usePaged<Participant>('/api/participants', { q: param('find') }, ['subscription']);
  return (
    <div class="stack">
      <form
        class="filters"
        onSubmit={onSubmit(() => navigate('network', { tab: 'participants', find: q.trim() }))}
      >
        <label>
          <span>Id</span>
          <input value={q} spellcheck={false} onInput={(event) => setQ(event.currentTarget.value)} />
        </label>
        <button type="submit">Filter</button>
      </form>
      <PagedTable
        list={list}
        caption="participants"
        columns={columns}
        keyOf={({ identity }) => identity}
        empty="No participants."
        hint="The registry of this process has none; if REGISTRY_URL names another registry, look there."
      />
    </div>
  );
}

const columns: readonly Column<Participant>[] = [
  { label: 'Participant', cell: ({ identity }) => <NodeLink node={identity} /> },
  { label: 'Type', kind: 'short', cell: ({ type }) => type },
  { label: 'Address', cell: ({ url }) => url },
  { label: 'Networks', cell: ({ networks }) => networks.join(', ') },
  {
    label: 'Keys',
    cell: ({ keys }) => (
      <ul class="plain-list">
        {keys.map((key) => (
          <li key={key.recordId}>
            <Key recordKey={key} />
          </li>
        ))}
      </ul>
    ),
  },
];

const soonMs = 30 * 86_400_000;

/** An expiring key must be replaced in time: afterwards, none of its signatures is valid. */
function KeyEnd({ at }: { at: string }) {
  const leftMs = new Date(at).getTime() - Date.now();
  const tone = leftMs <= 0 ? 'bad' : leftMs < soonMs ? 'warn' : 'plain';
  return (
    <>
      {' '}
      <Badge tone={tone}>
        {leftMs <= 0 ? 'ended' : 'ends'} <Ago at={at} />
      </Badge>
    </>
  );
}

type ParticipantKey = Participant['keys'][number];

function Key({ recordKey: { recordId, publicKey, validUntil, state } }: { recordKey: ParticipantKey }) {
  return (
    <>
      <span title={publicKey}>{recordId}</span> <Badge tone={toneOf(state)}>{state}</Badge>
      {validUntil && <KeyEnd at={validUntil} />}
    </>
  );
}
