import { describe, expect, it } from 'vitest';
import { makeTree, readTree, servedFiles } from '../support/hosted/published-tree.ts';
import { processKey, startPublisherProcess } from '../support/processes/publisher-process.ts';
import { faultOptions, strikes, times } from './fault-run.ts';
import { publishThroughKills, publishThroughStops } from './publish-through-kills.ts';

// Publishers in separate processes, on one tree.

describe('publishers that are killed, or work at the same time', () => {
  it(
    'leave a tree that verifies at every moment, with all that was answered',
    faultOptions,
    strikes(
      'SIGKILL of a publisher of signed files',
      (run) => publishThroughKills(run, { publishes: times(9, 90), kills: times(3, 90) }),
      { isKill: true },
    ),
  );

  it(
    'and that stand still for a while go on without a loss',
    faultOptions,
    strikes('SIGSTOP of a publisher of signed files', (run) =>
      publishThroughStops(run, { stops: times(2, 20) }),
    ),
  );

  it('lose nothing of each other', async () => {
    const tree = await makeTree({ key: processKey });
    const count = 15;
    try {
      const { directory, baseUrl } = tree;
      const publishers = await Promise.all(
        ['one', 'two'].map((name) => startPublisherProcess({ directory, baseUrl, name, first: 0, count })),
      );
      await Promise.all(publishers.map(({ ended }) => ended));
      const read = await readTree(tree);
      const shared = read.get('shared')?.held;
      expect(shared?.version).toBe(2 * count);
      for (const name of ['one', 'two']) {
        for (let n = 0; n < count; n++) expect(shared?.content.resources.has(`${name}-${n}`)).toBe(true);
        expect(read.get(name)?.held?.version).toBe(count);
      }
      const listed = [...read.values()].flatMap(({ entry }) => [
        entry.baseline?.url,
        ...entry.changes.map(({ url }) => url),
      ]);
      for (const url of listed) {
        expect([...(await servedFiles(tree)).keys()]).toContain(url?.slice(baseUrl.length + 1));
      }
    } finally {
      await tree.remove();
    }
  });
});
