import { performance } from 'node:perf_hooks';
import type { Held } from '../support/hosted/published-tree.ts';
import { makeTree, readTree } from '../support/hosted/published-tree.ts';
import { processKey, startPublisherProcess } from '../support/processes/publisher-process.ts';
import { takeTime, until } from '../support/time.ts';
import type { FaultRun, Outcome } from './fault-run.ts';

const seconds = 1_000;

/**
 * Kills a publisher at random moments until it has published often enough. At every moment, the served files verify, even for a reader that starts
 * from an earlier state. An answered publish is lost if its resource is missing or an older one is the latest; it is applied twice if there are more
 * versions than publishes, including those that a kill left unanswered.
 */
export async function publishThroughKills(
  run: FaultRun,
  { publishes, kills }: { publishes: number; kills: number },
): Promise<Outcome> {
  const tree = await makeTree({ key: processKey });
  const lost = new Set<number>();
  let held = new Map<string, Held>();
  let acknowledged = -1;
  let patienceMs = 60;
  let killedAt = 0;
  let lives = 0;
  let versions = 0;
  const perLife = Math.ceil(publishes / kills);
  try {
    for (; lives < kills || acknowledged < publishes - 1; lives++) {
      const { directory, baseUrl } = tree;
      const first = acknowledged + 1;
      const publisher = await startPublisherProcess({ directory, baseUrl, name: 'own', first, count: 1000 });
      if (lives > 0)
        await run.recover(killedAt, () => until(() => publisher.acknowledged() >= first, 'the next publish'));
      await until(async () => {
        if (publisher.acknowledged() >= first + perLife - 2) return true;
        await readTree(tree, { held });
        return false;
      }, 'the publishes before the next kill');
      // A moment within the next publish, which takes longer on a busy machine.
      await takeTime(run.between(0, patienceMs));
      await publisher.kill();
      killedAt = performance.now();
      run.count();
      patienceMs = publisher.acknowledged() > acknowledged ? Math.max(60, patienceMs / 2) : patienceMs * 1.2;
      acknowledged = Math.max(acknowledged, publisher.acknowledged());
      const read = await readTree(tree, { held });
      const shared = read.get('shared')?.held?.content.resources;
      for (let n = 0; n <= acknowledged; n++) if (!shared?.has(`own-${n}`)) lost.add(n);
      versions = read.get('shared')?.held?.version ?? 0;
      const latest = Number(read.get('own')?.held?.content.resources.get('latest')?.descriptor?.name ?? -1);
      if (latest < acknowledged) lost.add(acknowledged);
      held = new Map([...read].flatMap(([id, catalog]) => (catalog.held ? [[id, catalog.held]] : [])));
    }
    const answered = acknowledged + 1;
    return {
      acknowledged: answered,
      lost: lost.size,
      appliedTwice: Math.max(0, versions - answered - lives),
    };
  } finally {
    await tree.remove();
  }
}

/**
 * Two publishers on one tree; one or the other is suspended at any moment, even while it holds the lock of the tree. The served files verify all the
 * time; nothing that either one has acknowledged is lost, and neither overwrites what the other has published.
 */
export async function publishThroughStops(run: FaultRun, { stops }: { stops: number }): Promise<Outcome> {
  const tree = await makeTree({ key: processKey });
  const { directory, baseUrl } = tree;
  const names = ['one', 'two'] as const;
  const start = (name: string) =>
    startPublisherProcess({ directory, baseUrl, name, first: 0, count: 100_000 });
  const publishers = await Promise.all([start(names[0]), start(names[1])]);
  try {
    for (let stop = 0; stop < stops; stop++) {
      const publisher = run.pick(publishers);
      const before = publisher.acknowledged();
      await until(() => publisher.acknowledged() > before, 'it to publish');
      await takeTime(run.between(0, 60));
      publisher.halt();
      run.count();
      const end = performance.now() + run.between(0.1, 1) * seconds;
      do await readTree(tree);
      while (performance.now() < end);
      const held = publisher.acknowledged();
      publisher.goOn();
      await run.recover(performance.now(), () =>
        until(() => publisher.acknowledged() > held, 'it to publish again'),
      );
    }
    await Promise.all(publishers.map((publisher) => publisher.kill()));
    const shared = (await readTree(tree)).get('shared')?.held;
    const lost = publishers.flatMap((publisher, index) =>
      Array.from({ length: publisher.acknowledged() + 1 }, (_, n) => `${names[index]}-${n}`).filter(
        (id) => !shared?.content.resources.has(id),
      ),
    );
    const acknowledged = publishers.reduce((sum, publisher) => sum + publisher.acknowledged() + 1, 0);
    // Each may have been killed after a write, but before the acknowledgement.
    const appliedTwice = Math.max(0, (shared?.version ?? 0) - acknowledged - names.length);
    return { acknowledged, lost: lost.length, appliedTwice };
  } finally {
    await Promise.all(publishers.map((publisher) => publisher.kill()));
    await tree.remove();
  }
}
