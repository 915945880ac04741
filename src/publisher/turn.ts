import type { ErrorBody } from '../protocol/errors.ts';
import type { TriggerResult } from '../protocol/trigger-messages.ts';
import type { Check } from '../rules/check-attributes.ts';
import type { Built } from './build.ts';
import type { TreeEdit } from './edit.ts';
import type { OwnMasters } from './masters.ts';
import type { PublisherTree } from './tree.ts';
import { findReadingProblems } from './warnings.ts';

export interface Turn {
  tree: PublisherTree;
  edit: TreeEdit;
  indexName: string | undefined;
  forceBaseline: boolean;
  /** The master resources of the tree, loaded on demand. */
  masters?: Promise<OwnMasters>;
  warnings: string[];
}

/** Publishes the built files, unless they are published already. `checkedBy` found no fault in the content. */
export async function accept(
  { edit, warnings }: Pick<Turn, 'edit' | 'warnings'>,
  indexName: string,
  { kind, entry, content, files }: Built,
  checkedBy: Check | undefined,
): Promise<TriggerResult> {
  const { catalogId } = entry;
  if (kind === 'unchanged') return acceptAsIs(catalogId, content.version);
  await edit.put(indexName, entry, { files, content, checkedBy });
  warnings.push(...findReadingProblems(entry, files));
  return { catalogId, status: 'ACCEPTED', version: content.version };
}

export function acceptAsIs(catalogId: string, version: number | undefined): TriggerResult {
  return { catalogId, status: 'ACCEPTED', ...(version !== undefined && { version }), unchanged: true };
}

export function reject(catalogId: string, errors: ErrorBody[]): TriggerResult {
  return { catalogId, status: 'REJECTED', errors };
}
