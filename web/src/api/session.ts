import { computed, signal } from '@preact/signals';
import type { Session as SessionAnswer } from '../../../src/console/answers/session.ts';

export type Session = Required<Omit<SessionAnswer, 'mapTiles' | 'demoCity' | 'operator'>> &
  Pick<SessionAnswer, 'mapTiles' | 'demoCity' | 'operator'>;

export const session = signal<Session | undefined>(undefined);
export const sessionFailed = signal(false);
export const isOperator = computed(() => session.value?.operator !== undefined);

export const tokenWanted = signal<((signedIn: boolean) => void) | undefined>(undefined);
let asking: Promise<boolean> | undefined;

export async function loadSession(): Promise<void> {
  try {
    const answer = await fetch('/api/session', { headers: { accept: 'application/json' } });
    if (!answer.ok) throw new Error(String(answer.status));
    session.value = (await answer.json()) as Session;
    sessionFailed.value = false;
  } catch {
    sessionFailed.value = true;
  }
}

export function signIn(): Promise<boolean> {
  asking ??= new Promise<boolean>((resolve) => {
    tokenWanted.value = resolve;
  }).finally(() => {
    tokenWanted.value = undefined;
    asking = undefined;
  });
  return asking;
}

export async function sendToken(token: string): Promise<string | undefined> {
  const answer = await fetch('/api/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-signpost': 'console' },
    body: JSON.stringify({ token }),
  }).catch(() => undefined);
  if (answer === undefined) return 'The console does not answer.';
  if (answer.status === 429) return 'Too many attempts. Wait a minute, then try again.';
  if (!answer.ok) return 'No operator has this token.';
  await loadSession();
  return undefined;
}

export async function signOut(): Promise<void> {
  await fetch('/api/session', { method: 'DELETE', headers: { 'x-signpost': 'console' } }).catch(() => {});
  await loadSession();
}
