import { signIn } from './session.ts';

export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: string;
  readonly hint?: string;
  readonly path?: string;

  constructor(code: string, message: string, { hint, path }: { hint?: string; path?: string } = {}) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.path = path;
  }
}

export type Query = Record<string, string | number | undefined>;
type Method = 'GET' | 'POST' | 'DELETE';

export function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return call<T>('GET', pathWith(path, query), { signal });
}

export function post<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  return call<T>('POST', path, { body, signal });
}

export function remove<T>(path: string): Promise<T> {
  return call<T>('DELETE', path, {});
}

export function pathWith(path: string, query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, String(value));
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

interface CallOptions {
  body?: unknown;
  signal?: AbortSignal;
}

/** If a call needs the operator token, asks the user for it once and repeats the call. */
async function call<T>(method: Method, path: string, options: CallOptions): Promise<T> {
  const first = await send(method, path, options);
  const answer = first.status === 401 && (await signIn()) ? await send(method, path, options) : first;
  if (!answer.ok) throw await readRefusal(answer);
  const text = await answer.text();
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

async function send(method: Method, path: string, { body, signal }: CallOptions): Promise<Response> {
  try {
    return await fetch(path, {
      method,
      signal,
      headers: {
        accept: 'application/json',
        ...(method !== 'GET' && { 'x-signpost': 'console' }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError('UNREACHABLE', 'The console does not answer.', {
      hint: 'Is the process still running? The page tries again when it is back.',
    });
  }
}

async function readRefusal(answer: Response): Promise<ApiError> {
  const { status } = answer;
  const { error } = (await answer.json().catch(() => ({}))) as { error?: Partial<ApiError> };
  const message = error?.message ?? `The console answered with status ${status}.`;
  return new ApiError(error?.code ?? `HTTP ${status}`, message, error);
}
