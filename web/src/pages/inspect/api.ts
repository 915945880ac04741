import type { Difference, Inspection } from '../../../../src/console/answers/inspect.ts';
import { get, pathWith } from '../../api/client.ts';

export function inspect(q: string, network: string, signal: AbortSignal): Promise<Inspection> {
  return get<Inspection>('/api/inspect', { q, network }, signal);
}

export function readDifference(node: string, catalogId: string, signal: AbortSignal): Promise<Difference> {
  return get<Difference>('/api/inspect/difference', { node, catalogId }, signal);
}

export function csvOfIssues(q: string): string {
  return pathWith('/api/inspect/issues.csv', { q });
}
