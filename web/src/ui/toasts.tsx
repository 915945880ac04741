import { signal } from '@preact/signals';
import { asApiError } from '../api/load.ts';
import './toasts.css';

const toasts = signal<readonly { id: number; text: string; bad: boolean }[]>([]);
let count = 0;

export function notify(text: string, { bad = false } = {}): void {
  count += 1;
  const toast = { id: count, text, bad };
  toasts.value = [...toasts.value, toast].slice(-shown);
  setTimeout(() => {
    toasts.value = toasts.value.filter(({ id }) => id !== toast.id);
  }, shownMs);
}

export async function attempt(work: () => Promise<string>): Promise<boolean> {
  try {
    notify(await work());
    return true;
  } catch (error) {
    const { message, hint } = asApiError(error);
    notify(hint === undefined ? message : `${message} ${hint}`, { bad: true });
    return false;
  }
}

const shown = 3;
const shownMs = 6_000;

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, bad }) => (
        <p key={id} class={bad ? 'toast bad' : 'toast'}>
          {text}
        </p>
      ))}
    </div>
  );
}
