import { effect, signal } from '@preact/signals';

const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

const storageKey = 'signpost-theme';
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

export const theme = signal<Theme>(readTheme());
/** Whether the page is dark: the user's choice, or the preference of the system. Charts draw on a canvas and read it. */
export const isDark = signal(false);

/** Keeps the attribute that the style sheets look at in step with the choice. */
export function applyTheme(): void {
  const show = () => {
    isDark.value = theme.value === 'dark' || (theme.value === 'system' && systemIsDark.matches);
    document.documentElement.dataset.theme = isDark.value ? 'dark' : 'light';
  };
  effect(show);
  systemIsDark.addEventListener('change', show);
}

export function chooseTheme(choice: Theme): void {
  theme.value = choice;
  try {
    localStorage.setItem(storageKey, choice);
  } catch {
    // Storage may be forbidden; the choice then lasts until the page is left.
  }
}

function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(storageKey);
    return themes.find((name) => name === stored) ?? 'system';
  } catch {
    return 'system';
  }
}
