import { describe, expect, it } from 'vitest';
import type { Feed } from '../storage/feeds/feeds.ts';
import { nextStep } from './pull-client.ts';

const now = new Date('2026-01-31T12:00:00Z');
const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const inMinutes = (minutes: number) => ago(-minutes);

function feed(state: Partial<Feed> = {}): Feed {
  return {
    id: 1,
    catalog_url: 'https://catalog.example',
    network_id: 'a/x',
    schema_types: [],
    configured: true,
    service: null,
    subscription_id: 'b5a1e7a0-0000-4000-8000-000000000001',
    cancelled_ids: [],
    check_at: inMinutes(10),
    pull_at: inMinutes(60),
    run: null,
    run_started_at: null,
    run_skipped: false,
    page_offset: 0,
    message_id: null,
    sent_at: null,
    failures: 0,
    out_of_step_since: null,
    ...state,
  };
}

describe('what a feed needs next', () => {
  it('is to be cancelled when it is not configured any more, whatever else', () => {
    expect(nextStep(feed({ configured: false, subscription_id: null, run: 'r' }), true, now)).toBe('cancel');
  });

  it('is a subscription where it has none, and then that the replaced ones go', () => {
    expect(nextStep(feed({ subscription_id: null, pull_at: null }), false, now)).toBe('subscribe');
    expect(nextStep(feed({ cancelled_ids: ['x'] }), false, now)).toBe('tidy');
  });

  it('is a pull when that is due, and nothing before', () => {
    expect(nextStep(feed({ pull_at: now }), false, now)).toBe('begin');
    expect(nextStep(feed({ pull_at: inMinutes(5) }), false, now)).toEqual(inMinutes(5));
  });

  it('is a look at its subscription every 15 minutes and in doubt, before all but an answer that has come', () => {
    expect(nextStep(feed(), false, now)).toEqual(inMinutes(10));
    for (const check_at of [null, now, ago(5), inMinutes(16)]) {
      expect(nextStep(feed({ check_at, pull_at: now }), false, now)).toBe('check');
      expect(nextStep(feed({ check_at, run: 'r' }), false, now)).toBe('check');
      const asking = { run: 'r', message_id: 'm', sent_at: ago(1) };
      expect(nextStep(feed({ check_at, ...asking }), false, now)).toBe('check');
      expect(nextStep(feed({ check_at, ...asking }), true, now)).toBe('apply');
    }
  });

  it('is what was due at a time further ahead than any is set, as after the clock was set back', () => {
    expect(nextStep(feed({ pull_at: inMinutes(24 * 60 + 1) }), false, now)).toBe('begin');
    const asking = { run: 'r', message_id: 'm', sent_at: inMinutes(1) };
    expect(nextStep(feed(asking), false, now)).toBe('give up waiting');
  });

  it('is, in a pull, the page that is still to be sent, then its answer, for ten minutes', () => {
    expect(nextStep(feed({ run: 'r' }), false, now)).toBe('send');
    const sent = { run: 'r', message_id: 'm' };
    expect(nextStep(feed({ ...sent, sent_at: ago(1) }), true, now)).toBe('apply');
    expect(nextStep(feed({ ...sent, sent_at: ago(1) }), false, now)).toEqual(inMinutes(9));
    expect(nextStep(feed({ ...sent, sent_at: ago(10) }), false, now)).toBe('give up waiting');
    expect(nextStep(feed({ ...sent, sent_at: ago(11) }), true, now)).toBe('apply');
  });
});
