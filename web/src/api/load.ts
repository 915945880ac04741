import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Topic } from '../../../src/console/answers/events.ts';
import { ApiError, get, pathWith, type Query } from './client.ts';
import { onChange } from './events.ts';

export interface Loaded<T> {
  data?: T;
  error?: ApiError;
  /** True also while old data is still shown. */
  loading: boolean;
  reload(): void;
}

/** Loads when `key` or a topic changes. An undefined key loads nothing. Old data stays until new data arrives, unless the key has changed. */
export function useLoad<T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
  topics: readonly Topic[] = [],
): Loaded<T> {
  const [state, setState] = useState<{ key?: string; data?: T; error?: ApiError; loading: boolean }>({
    loading: key !== undefined,
  });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;

  // `turn` counts the reloads.
  useEffect(() => {
    if (key === undefined) {
      setState({ loading: false });
      return;
    }
    const abort = new AbortController();
    setState((old) => ({ key, loading: true, ...(old.key === key && { data: old.data, error: old.error }) }));
    latest.current(abort.signal).then(
      (data) => !abort.signal.aborted && setState({ key, data, loading: false }),
      (error: unknown) =>
        !abort.signal.aborted &&
        setState((old) => ({ key, data: old.data, error: asApiError(error), loading: false })),
    );
    return () => abort.abort();
  }, [key, turn]);

  const reload = useCallback(() => setTurn((count) => count + 1), []);
  useReloadOn(topics, reload);
  const { data, error, loading } = state;
  return { data, error, loading, reload };
}

export function useGet<T>(path: string | undefined, query: Query = {}, topics: readonly Topic[] = []) {
  const asked = path === undefined ? undefined : pathWith(path, query);
  return useLoad(asked, (signal) => get<T>(asked ?? '', {}, signal), topics);
}

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

/** Changes come in bursts: each burst causes one reload. */
function useReloadOn(topics: readonly Topic[], reload: () => void): void {
  const wanted = topics.join();
  useEffect(() => {
    if (wanted === '') return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = onChange((topic) => {
      if (timer !== undefined || !wanted.split(',').includes(topic)) return;
      timer = setTimeout(() => {
        timer = undefined;
        reload();
      }, burstMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [wanted, reload]);
}

const burstMs = 400;

/** Debounces typing: the next key press starts another load, which aborts this one. */
export function waitForPause(signal: AbortSignal, pauseMs = 250): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, pauseMs);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError('UNEXPECTED', error instanceof Error ? error.message : String(error));
}
