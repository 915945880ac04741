import { get, post, remove } from '../../api/client.ts';

export interface SignatureQuestion {
  header: string;
  body: string;
  now?: string;
  requestAuthorization?: string;
}

export interface SignatureStep {
  step: string;
  ok: boolean;
  expected?: string;
  got?: string;
  detail: string;
}

export interface SignatureAnswer {
  verdict: 'holds' | 'differs' | 'unreadable';
  differs?: string;
  steps: SignatureStep[];
  signingString?: string;
  digest?: { expected?: string; got?: string };
  key?: { identity: string; recordId: string; publicKey?: string; state: string };
  hints: string[];
}

export interface InboxItem {
  id: string;
  at: string;
  path: string;
  action?: string;
  from?: string;
  messageId?: string;
  verifies: boolean;
  why?: string;
  headers: Record<string, string | string[]>;
  /** The received text, unchanged: its signature covers these bytes. */
  body: string;
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
