import { useState } from 'preact/hooks';
import type { InboxItem } from '../../../../src/console/answers/debug.ts';
import { remove } from '../../api/client.ts';
import { useGet } from '../../api/load.ts';
import { session } from '../../api/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Code } from '../../ui/code.tsx';
import { Empty, Show } from '../../ui/states.tsx';
import { Ago } from '../../ui/time.tsx';
import { attempt } from '../../ui/toasts.tsx';
import type { SignatureQuestion } from './signature-form.tsx';

interface DebugProps {
  debug(question: SignatureQuestion): void;
}

export function Inbox({ debug }: DebugProps) {
  // At most 50 of the latest 100 have invalid signatures.
  const inbox = useGet<{ items: InboxItem[] }>('/api/inbox', { limit: 100 }, ['inbox']);
  const [open, setOpen] = useState<string>();
  const clear = async () => {
    if (await attempt(() => remove('/api/inbox').then(() => 'The inbox is empty.'))) inbox.reload();
  };
  return (
    <Show of={inbox} what="inbox">
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="Nothing has arrived.">
            Callbacks sent to <code>{location.origin}/inbox</code> appear here as they arrive
            {session.value?.identities.consumer &&
              `, including those for ${session.value.identities.consumer.id}`}
            . The latest 150 that verify and 50 that do not are kept, in memory.
          </Empty>
        ) : (
          <div class="stack">
            <div class="spread">
              <p class="soft" role="status">
                {items.length === 1 ? 'One message' : `${items.length} messages`}, newest first
              </p>
              <button type="button" class="small" onClick={() => void clear()}>
                Empty the inbox
              </button>
            </div>
            <ul class="inbox">
              {items.map((item) => (
                <Message
                  key={item.id}
                  item={item}
                  open={item.id === open}
                  toggle={() => setOpen(item.id === open ? undefined : item.id)}
                  debug={debug}
                />
              ))}
            </ul>
          </div>
        )
      }
    </Show>
  );
}

type MessageProps = DebugProps & { item: InboxItem; open: boolean; toggle(): void };

function Message({ item, open, toggle, debug }: MessageProps) {
  const { body } = item;
  return (
    <li class="panel">
      <button type="button" class="message-button" aria-expanded={open} onClick={toggle}>
        <Badge tone={item.verifies ? 'good' : 'bad'}>{item.verifies ? 'verifies' : 'does not verify'}</Badge>
        <strong>{item.action ?? item.path}</strong>
        <span class="soft">{item.from}</span>
        <span class="soft small message-time">
          <Ago at={item.at} />
        </span>
      </button>
      {open && (
        <div class="stack message-details">
          {item.why && <p class="fault">{item.why}</p>}
          <p class="soft small wrap">
            POST {item.path} {item.messageId && `· message ${item.messageId}`}
          </p>
          <Code text={headerBlock(item)} label="headers" />
          <Code text={pretty(body)} label="body" />
          <div>
            <button type="button" onClick={() => debug({ header: headerBlock(item), body, now: item.at })}>
              Debug its signature
            </button>
          </div>
        </div>
      )}
    </li>
  );
}

function headerBlock({ headers }: InboxItem): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${[value].flat().join(', ')}`)
    .join('\n');
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
