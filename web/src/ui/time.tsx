import { signal } from '@preact/signals';

/** A clock: components that read this signal render again every few seconds. */
const ticks = signal(0);
setInterval(() => {
  ticks.value += 1;
}, 5_000);

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const steps: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/** The time relative to now; the exact time is in the title. */
export function Ago({ at }: { at?: string | null }) {
  if (!at) return <span class="soft">never</span>;
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <span>{at}</span>;
  void ticks.value;
  return (
    <time dateTime={at} title={date.toLocaleString()}>
      {spell((date.getTime() - Date.now()) / 1_000)}
    </time>
  );
}

function spell(seconds: number): string {
  const [unit, size] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  const amount = Math.round(seconds / size);
  if (unit === 'second' && Math.abs(amount) < 5) return amount > 0 ? 'in a moment' : 'just now';
  return relative.format(amount, unit);
}

const unitsOfBytes = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function spellBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(unitsOfBytes.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${value >= 100 || power === 0 ? Math.round(value) : value.toFixed(1)} ${unitsOfBytes[power]}`;
}

export function spellMs(ms: number): string {
  if (ms >= 10_000) return `${Math.round(ms / 1_000)} s`;
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms >= 10 || ms === 0 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`;
}

export function spellMeters(meters: number): string {
  return meters >= 1_000
    ? `${Number((meters / 1_000).toFixed(meters >= 10_000 ? 0 : 1))} km`
    : `${Math.round(meters)} m`;
}

export function spellValue(value: unknown): string {
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
}

const numbers = new Intl.NumberFormat('en');
export function spellCount(count: number): string {
  return numbers.format(count);
}
