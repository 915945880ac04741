import { useRef } from 'preact/hooks';
import { get, pathWith, type Query } from './client.ts';
import type { Topic } from './events.ts';
import { type Loaded, useLoad } from './load.ts';

/** A list of the operator's API: `next` is the cursor of the following page. */
export interface Listed<T> {
  items: T[];
  next?: string;
}

export interface Paged<T> extends Loaded<Listed<T>> {
  /** Loads another page and appends it; undefined at the end of the list. */
  more?(): void;
}

/** Pages of a list, one after another. An event of a topic reloads the visible pages. */
export function usePaged<T>(path: string, query: Query = {}, topics: readonly Topic[] = []): Paged<T> {
  const key = pathWith(path, query);
  const shown = useRef({ key, pages: 1 });
  if (shown.current.key !== key) shown.current = { key, pages: 1 };
  const loaded = useLoad(key, (signal) => readPages<T>(path, query, shown.current.pages, signal), topics);
  if (loaded.data?.next === undefined) return loaded;
  const more = () => {
    shown.current.pages += 1;
    loaded.reload();
  };
  return { ...loaded, more };
}

async function readPages<T>(path: string, query: Query, pages: number, signal: AbortSignal) {
  const all: Listed<T> = { items: [] };
  for (let page = 0; page < pages; page += 1) {
    const { items, next } = await get<Listed<T>>(path, { ...query, after: all.next }, signal);
    all.items.push(...items);
    all.next = next;
    if (next === undefined) break;
  }
  return all;
}
