import { type CrawlCode, hintOf, isReadingFault } from '../discovery/crawl/reasons.ts';
import type { HostedDocument } from '../rules/self-hosted/faults.ts';

// What a look at one document found: it holds, it is broken, or it holds but something about it is amiss.

export type Finding = About & ({ kind: 'holds'; detail: string } | Complaint);

export interface About {
  /** A catalog is what its documents add up to. */
  document: HostedDocument | 'catalog';
  catalogId?: string;
  url?: string;
}

export interface Complaint {
  kind: 'fault' | 'warning';
  code: CrawlCode | 'size-mismatch' | 'copies-differ';
  message: string;
  /** What to do about it. */
  hint: string;
}

export function holds(about: About, detail: string): Finding {
  return { kind: 'holds', ...about, detail };
}

export function warning(about: About, code: Complaint['code'], message: string): Finding {
  const hint = code === 'size-mismatch' || code === 'copies-differ' ? ownHints[code] : hintOf(code);
  return { kind: 'warning', ...about, code, message, hint };
}

const ownHints = {
  'size-mismatch':
    'Publish the catalog again: readers decide by the size whether a baseline is cheaper than its changes.',
  'copies-differ': 'Copy the manifest to both of its places: readers look at either.',
};

/** The fault that an error stands for. That the registry cannot be asked says nothing about the tree. */
export function fault(about: About, error: unknown): Finding {
  if (!isReadingFault(error) || error.code === 'registry-unavailable') throw error;
  return { kind: 'fault', ...about, code: error.code, message: error.message, hint: hintOf(error.code) };
}

/** A document past its next_update is still used, but every reader notices. */
export function staleness(about: About, nextUpdate: string | undefined, now: Date): Finding[] {
  if (nextUpdate === undefined || Date.parse(nextUpdate) >= now.getTime()) return [];
  return [warning(about, 'stale', `The ${about.document} was to be renewed by ${nextUpdate}.`)];
}
