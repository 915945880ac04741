import { expect } from 'vitest';
import type { Held } from './published-tree.ts';
import { makeTree, readTree } from './published-tree.ts';
import { processKey, startPublisherProcess } from './publisher-process.ts';
import { takeTime } from './time.ts';

/**
 * Kills a publisher at random moments until it has published often enough. What is served verifies at every moment, also for a reader from
 * an earlier state, and every publish that was answered is there.
 */
export async function publishThroughKills({
  publishes,
  kills,
}: {
  publishes: number;
  kills: number;
}): Promise<void> {
  const tree = await makeTree({ key: processKey });
  let held = new Map<string, Held>();
  let acknowledged = -1;
  let patienceMs = 60;
  const perLife = Math.ceil(publishes / kills);
  try {
    for (let life = 0; life < kills || acknowledged < publishes - 1; life++) {
      const { directory, baseUrl } = tree;
      const first = acknowledged + 1;
      const publisher = await startPublisherProcess({ directory, baseUrl, name: 'own', first, count: 1000 });
      while (publisher.acknowledged() < first + perLife - 2) await readTree(tree, { held });
      // A moment within the next publish; a busy machine takes longer for one than a quiet one.
      await takeTime(Math.random() * patienceMs);
      await publisher.kill();
      patienceMs = publisher.acknowledged() > acknowledged ? Math.max(60, patienceMs / 2) : patienceMs * 1.2;
      acknowledged = Math.max(acknowledged, publisher.acknowledged());
      const read = await readTree(tree, { held });
      const shared = read.get('shared')?.held?.content.resources;
      for (let n = 0; n <= acknowledged; n++) expect(shared?.has(`own-${n}`)).toBe(true);
      const latest = Number(read.get('own')?.held?.content.resources.get('latest')?.descriptor?.name ?? -1);
      expect(latest - acknowledged).toBeOneOf([0, 1]);
      held = new Map([...read].flatMap(([id, catalog]) => (catalog.held ? [[id, catalog.held]] : [])));
    }
  } finally {
    await tree.remove();
  }
}
