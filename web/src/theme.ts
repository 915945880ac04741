import { signal } from '@preact/signals';

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

/** Whether the system prefers dark. Charts draw on a canvas and read it. */
export const isDark = signal(false);

/** Keeps the attribute for the style sheets in step with the preference. */
export function applyTheme(): void {
  const show = () => {
    isDark.value = systemIsDark.matches;
    document.documentElement.dataset.theme = isDark.value ? 'dark' : 'light';
  };
  show();
  systemIsDark.addEventListener('change', show);
}
