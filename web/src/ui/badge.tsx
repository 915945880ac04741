import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';
import './badge.css';

type Tone = 'good' | 'warn' | 'bad' | 'plain';

const icons: Partial<Record<Tone, IconName>> = { good: 'check', warn: 'warning', bad: 'cross' };

/** A state in a word. The icon repeats the colour for colour-blind users. */
export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) {
  const icon = icons[tone];
  return (
    <span class={`badge ${tone}`}>
      {icon && <Icon name={icon} />}
      {children}
    </span>
  );
}

const good = [
  'ACTIVE',
  'active',
  'delivered',
  'ACCEPTED',
  'discoverable',
  'live',
  'read',
  'in step',
  'acknowledged',
];
const warn = ['warnings', 'PARTIAL', 'open', 'paused', 'with failing catalogs', 'pending', 'skipped'];
const bad = ['refused', 'no endpoint', 'failing', 'parked', 'REJECTED', 'expired', 'revoked', 'not'];

export function toneOf(state: string): Tone {
  if (good.includes(state)) return 'good';
  if (warn.includes(state)) return 'warn';
  return bad.includes(state) ? 'bad' : 'plain';
}
