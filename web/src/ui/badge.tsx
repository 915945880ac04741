import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';
import './badge.css';

export type Tone = 'good' | 'warn' | 'bad' | 'plain';

const icons: Record<Tone, IconName | undefined> = {
  good: 'check',
  warn: 'warning',
  bad: 'cross',
  plain: undefined,
};

/** A state in a word. The icon repeats the colour for people who do not see it. */
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
  'ok',
  'ACTIVE',
  'active',
  'current',
  'valid',
  'delivered',
  'ACCEPTED',
  'healthy',
  'discoverable',
  'done',
  'live',
  'read',
  'in step',
  'acknowledged',
];
const warn = [
  'warning',
  'warnings',
  'PARTIAL',
  'waiting',
  'open',
  'unseen',
  'expiring',
  'paused',
  'stale',
  'retrying',
  'with failing catalogs',
  'pending',
  'skipped',
];
const bad = [
  'refused',
  'no endpoint',
  'broken',
  'failed',
  'failing',
  'parked',
  'REJECTED',
  'expired',
  'revoked',
  'not',
  'unreachable',
];

export function toneOf(state: string): Tone {
  if (good.includes(state)) return 'good';
  if (warn.includes(state)) return 'warn';
  return bad.includes(state) ? 'bad' : 'plain';
}
