import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProtocolError } from '../../src/protocol/errors.ts';
import { apply, compare } from '../support/search/by-the-book.ts';
import type { KnownCatalog } from '../support/search/discover-oracle.ts';
import {
  type Cluster,
  feedSearch,
  obstacle,
  openSearchSettings,
  startCluster,
  startFedSearch,
} from '../support/search/open-search.ts';
import { takeTime, until } from '../support/time.ts';
import { arbitraryQuestion, sampleIndex } from '../support/values/arbitrary-index.ts';

/** Changes all the time, but matches no question. */
const changing = (n: number): KnownCatalog => ({
  ...{ owner: 'three.example/reg', networkIds: [], type: 'REGULAR' },
  catalog: {
    ...{ id: 'changing', isActive: false, descriptor: { name: 'zzz' } },
    ...{ provider: { id: 'p3', descriptor: { name: 'zzz' } }, resources: [{ id: 'r1', n } as never] },
  },
});
const index = [...sampleIndex(), changing(0)];
const questions = fc.sample(arbitraryQuestion, { seed: 20_261_116, numRuns: 12 });
/** By then, the lag must be below its limit again. */
const recoveredWithinMs = 30_000;
const promisedMs = 2_000;
/** Searches and pushes continue for this time after the kill. */
const noticedMs = 5_000;

describe.skipIf(obstacle)(`three nodes of OpenSearch (needs Java 17 and Maven)`, () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster({ nodes: 3 });
  });
  afterAll(() => cluster.close());

  it('answer rightly while one is killed under pushes and searches, and the index is soon up to date', async () => {
    const fed = await startFedSearch(openSearchSettings(cluster.urls));
    const feeding = await feedSearch(fed.service);
    try {
      await apply(fed.database, index);
      await feeding.catchUp();
      const stop = new AbortController();
      const outcome = { answered: 0, refused: 0 };
      const searching = searchOn(fed.service, stop.signal, outcome);
      const pushing = pushOn(fed.database, stop.signal);
      await takeTime(1_000);
      const killedAt = performance.now();
      await cluster.nodes[0]?.kill();
      await takeTime(noticedMs);
      const isUpToDate = async () => ((await fed.service.lag()) ?? promisedMs) < promisedMs;
      await until(isUpToDate, 'the lag to be under its limit again', recoveredWithinMs - noticedMs);
      const recoveredMs = performance.now() - killedAt;
      stop.abort();
      await Promise.all([searching, pushing]);
      expect(outcome.answered).toBeGreaterThan(0);
      await feeding.catchUp();
      for (const question of questions) await compare(fed.service, index, question);
      console.log(
        `lag under its limit ${Math.round(recoveredMs)} ms after the kill; ${JSON.stringify(outcome)}`,
      );
    } finally {
      await feeding.close();
      await fed.close();
    }
  });
});

type Fed = Awaited<ReturnType<typeof startFedSearch>>;

/** Each answer must equal the plain evaluation, or be a 503. */
async function searchOn(
  service: Fed['service'],
  signal: AbortSignal,
  outcome: { answered: number; refused: number },
) {
  for (let n = 0; !signal.aborted; n += 1) {
    const question = questions[n % questions.length];
    if (question === undefined) return;
    try {
      await compare(service, index, question);
      outcome.answered += 1;
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.status !== 503) throw error;
      outcome.refused += 1;
    }
  }
}

async function pushOn(database: Fed['database'], signal: AbortSignal): Promise<void> {
  for (let n = 1; !signal.aborted; n += 1) {
    await apply(database, [changing(n)]);
    await takeTime(50);
  }
}
