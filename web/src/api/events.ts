import { signal } from '@preact/signals';
import type { Topic } from '../../../src/console/answers/events.ts';
import { isOperator, loadSession, sessionFailed } from './session.ts';

const topics: Topic[] = ['catalog', 'delivery', 'crawl', 'inbox', 'health', 'publish', 'subscription'];

/** Whether server-sent events arrive. The header shows it: a page without events looks unchanged. `polling`: the console has too many listeners. */
export const live = signal<'connecting' | 'live' | 'polling' | 'lost'>('connecting');

type Listener = (topic: Topic) => void;
const listeners = new Set<Listener>();

export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let source: EventSource | undefined;
let retry: ReturnType<typeof setTimeout> | undefined;

/** Listens while the page is visible: a browser has few connections to the console for all its tabs, and the console has few for all users. */
export function listenForChanges(): void {
  document.addEventListener('visibilitychange', () => (document.hidden ? stop() : connect()));
  isOperator.subscribe((isSignedIn) => isSignedIn && live.value === 'polling' && connect());
  if (!document.hidden) connect();
}

/** EventSource reconnects on its own, except after a refusal. */
function connect(): void {
  stop();
  const opened = new EventSource('/api/events');
  source = opened;
  opened.onopen = () => {
    if (live.value !== 'connecting') {
      void loadSession();
      reloadAll();
    }
    live.value = 'live';
  };
  opened.onerror = () => {
    if (opened.readyState === EventSource.CLOSED) void connectLater();
    else live.value = 'lost';
  };
  opened.addEventListener('change', ({ data }) => notify(JSON.parse(data).topic));
}

function stop(): void {
  source?.close();
  clearTimeout(retry);
}

async function connectLater(): Promise<void> {
  retry = setTimeout(connect, retryMs);
  await loadSession();
  live.value = sessionFailed.value ? 'lost' : 'polling';
  if (!sessionFailed.value) reloadAll();
}

/** The console's Retry-After, which EventSource does not expose. */
const retryMs = 15_000;

/** Changes during a disconnection are unknown, so everything is reloaded. */
function reloadAll(): void {
  for (const topic of topics) notify(topic);
}

function notify(topic: Topic): void {
  for (const listener of listeners) listener(topic);
}
