import { notify } from './toasts.tsx';
import './code.css';

/** Text for copying. It can scroll, so it is reachable by keyboard. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <div class="code">
      <button type="button" class="copy" onClick={() => void copy(text, label)}>
        Copy<span class="hidden"> {label}</span>
      </button>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section class="code-text" tabIndex={0} aria-label={label}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
    </div>
  );
}

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify(`Copied: ${what}.`);
  } catch {
    notify('The browser did not allow copying.', { bad: true });
  }
}
