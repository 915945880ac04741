import type { InboxItem, SignatureAnswer } from '../../../../src/console/answers/debug.ts';
import { get, post, remove } from '../../api/client.ts';

export interface SignatureQuestion {
  header: string;
  body: string;
  now?: string;
  requestAuthorization?: string;
}

export function debugSignature(question: SignatureQuestion): Promise<SignatureAnswer> {
  return post<SignatureAnswer>('/api/debug/signature', question);
}

/** Of the latest 100 at most 50 do not verify. */
export function readInbox(signal: AbortSignal): Promise<{ items: InboxItem[] }> {
  return get<{ items: InboxItem[] }>('/api/inbox', { limit: 100 }, signal);
}

export function clearInbox(): Promise<unknown> {
  return remove('/api/inbox');
}
