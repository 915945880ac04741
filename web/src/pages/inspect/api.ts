import { get, pathWith } from '../../api/client.ts';
import type { Change } from '../../ui/changes.tsx';

export type Verdict = 'discoverable' | 'warnings' | 'not';

/** The answer of the operator's API about a node, a catalog or a resource: the walk of `signpost doctor`. */
export interface InspectAnswer {
  kind: 'node' | 'catalog' | 'resource' | 'unknown';
  node?: string;
  catalogId?: string;
  resourceId?: string;
  verdict: Verdict;
  because?: string;
  nextStep?: string;
  chain: ChainLink[];
  catalogs: InspectedCatalog[];
  issues: Issue[];
  copies: Copy[];
}

export interface ChainLink {
  link: string;
  state: 'ok' | 'warning' | 'broken' | 'unseen';
  title: string;
  detail: string;
  expected?: string;
  got?: string;
  key?: string;
  at?: string;
  bytes?: number;
  url?: string;
  code?: string;
  hint?: string;
  catalogId?: string;
}

export interface InspectedCatalog {
  catalogId: string;
  verdict: Verdict;
  because?: string;
  indexedVersion?: string | number;
  liveVersion?: string | number;
  source: string;
}

export interface Issue {
  code: string;
  message: string;
  hint?: string;
  path?: string;
  catalogId?: string;
  count: number;
  lastAt?: string;
}

export interface Copy {
  discovery: string;
  version?: string | number;
  acknowledgedAt?: string;
  state: string;
}

export interface Difference {
  indexed?: string | number;
  live?: string | number;
  changes: Change[];
  truncated: boolean;
}

export function inspect(q: string, network: string, signal: AbortSignal): Promise<InspectAnswer> {
  return get<InspectAnswer>('/api/inspect', { q, network }, signal);
}

export function readDifference(node: string, catalogId: string, signal: AbortSignal): Promise<Difference> {
  return get<Difference>('/api/inspect/difference', { node, catalogId }, signal);
}

export function csvOfIssues(q: string): string {
  return pathWith('/api/inspect/issues.csv', { q });
}
