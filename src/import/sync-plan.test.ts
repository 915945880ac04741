import { describe, expect, it } from 'vitest';
import type { Catalog } from '../protocol/catalog.ts';
import { planSync, remember } from './sync-plan.ts';

function catalog(attributes: object): Catalog {
  const resourceAttributes = { '@context': 'c', '@type': 't', attributes };
  const provider = { id: 'p', descriptor: { name: 'P' } };
  return { id: 'c', descriptor: { name: 'C' }, provider, resources: [{ id: 'r', resourceAttributes }] };
}

function changesFrom(before: object, now: object): number {
  const memory = { stations: [], catalogs: { c: remember(catalog(before)) } };
  const packed = { id: 'c', resourceCount: 1, unpack: () => catalog(now) };
  const { changed } = planSync(memory, [packed], new Set());
  return changed.flatMap(({ resources }) => resources).length;
}

describe('a charger whose status is reported again', () => {
  const status = 'AVAILABLE';
  it('has not changed', () => {
    const [one, other] = ['2026-01-31T12:00:00Z', '2026-01-31T12:00:15Z'];
    expect(
      changesFrom(
        { availability: { status, reportedAt: one } },
        { availability: { status, reportedAt: other } },
      ),
    ).toBe(0);
    expect(changesFrom({ availability: { status } }, { availability: { status, reportedAt: other } })).toBe(
      0,
    );
  });

  it('has changed where anything else did, be it a text that looks like the time of a report', () => {
    expect(changesFrom({ availability: { status } }, { availability: { status: 'CHARGING' } })).toBe(1);
    const [one, other] = ['1', '2'].map((time) => ({ note: `"reportedAt":"${time}"` }));
    expect(changesFrom(one ?? {}, other ?? {})).toBe(1);
  });
});
