import { expect, it } from 'vitest';
import { makeTree } from '../../tests/support/hosted/published-tree.ts';
import { acquireFileLock } from '../storage/file-lock.ts';
import { publishCatalogs } from './publish.ts';
import { findTreeProblem } from './tree-problem.ts';

it('who has waited too long for another writer is told so in a sentence', async () => {
  const tree = await makeTree({ limits: { lockWaitMs: 50 } });
  const release = await acquireFileLock(tree.lockDirectory, 50);
  try {
    const error = await publishCatalogs(tree, { retire: ['coffee'] }).catch((thrown: unknown) => thrown);
    expect(findTreeProblem(error)).toMatch(/^Process \d+ has held the lock .* for over 0\.05 s\.$/);
  } finally {
    await release();
    await tree.remove();
  }
});
