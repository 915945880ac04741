import type { Dispatcher } from 'undici';
import { FetchFailure } from './fetch-failure.ts';

// One request and its whole answer, on the callbacks of undici's dispatch: for short answers, a stream would cost more than reading them.

export interface WholeAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

interface ExchangeLimits {
  deadline: Deadline;
  /** Gets status and headers as soon as they arrive; returns how much of the body is read. Without a limit, the body is not awaited. */
  limitBody(answer: Omit<WholeAnswer, 'body'>): BodyLimit | undefined;
}

interface BodyLimit {
  maxBytes: number;
  /** The error for a longer body; without it, the rest stays unread. */
  fail?(): Error;
}

export function exchange(
  agent: Pick<Dispatcher, 'dispatch'>,
  request: Dispatcher.DispatchOptions,
  { deadline, limitBody }: ExchangeLimits,
): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let head: Omit<WholeAnswer, 'body'> | undefined;
    let limit: BodyLimit | undefined;
    const finish = () => head && resolve({ ...head, body: Buffer.concat(chunks) });
    const { signal } = deadline;
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    agent.dispatch(request, {
      onRequestStart(controller) {
        if (signal.aborted) controller.abort(signal.reason);
        signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
      },
      onResponseStart(_controller, status, headers) {
        if (status < 200) return; // 1xx: the answer follows
        head = { status, headers };
        limit = limitBody(head);
        if (limit === undefined) finish();
        else if (Number(headers['content-length']) > limit.maxBytes && limit.fail) throw limit.fail();
      },
      onResponseData(controller, chunk) {
        bytes += chunk.length;
        if (limit && bytes <= limit.maxBytes) return void chunks.push(chunk);
        if (limit?.fail) throw limit.fail();
        finish();
        controller.abort(new Error('the rest is not read'));
      },
      onResponseEnd: finish,
      onResponseError: (_controller, error) => reject(error),
    });
  });
}

/** When a call must end: after a time, or because its caller gave up. The reason of its signal is a FetchFailure. */
export type Deadline = ReturnType<typeof startDeadline>;

export function startDeadline(
  { origin }: URL,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
) {
  const controller = new AbortController();
  const end = (...failure: ConstructorParameters<typeof FetchFailure>) =>
    controller.abort(new FetchFailure(...failure));
  const giveUp = () => end('aborted', `The call to ${origin} was given up.`, signal?.reason);
  const onTimeout = () => end('timeout', `${origin} did not answer completely within ${timeoutMs} ms.`);
  const timer = setTimeout(onTimeout, timeoutMs);
  if (signal?.aborted) giveUp();
  signal?.addEventListener('abort', giveUp, { once: true });
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
    },
  };
}
