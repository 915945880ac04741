import { signal } from '@preact/signals';
import { loadSession } from './session.ts';

export type Topic = 'catalog' | 'delivery' | 'crawl' | 'inbox' | 'health' | 'publish' | 'subscription';
export interface Change {
  topic: Topic;
  id?: string;
  at?: string;
}

/** Whether server-sent events arrive. The header shows it, because a page without events looks like a page without changes. */
export const live = signal<'connecting' | 'live' | 'lost'>('connecting');

type Listener = (change: Change) => void;
const listeners = new Set<Listener>();

export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** EventSource connects again by itself; where the server refused for good, a new one is made after a pause. */
export function listenForChanges(): void {
  const source = new EventSource('/api/events');
  source.onopen = () => {
    if (live.value === 'lost') void loadSession();
    live.value = 'live';
  };
  source.onerror = () => {
    live.value = 'lost';
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(listenForChanges, reconnectMs);
  };
  source.addEventListener('change', ({ data }) => {
    const change = parseChange(String(data));
    if (change) for (const listener of listeners) listener(change);
  });
}

const reconnectMs = 5_000;

function parseChange(data: string): Change | undefined {
  try {
    return JSON.parse(data) as Change;
  } catch {
    return undefined;
  }
}
