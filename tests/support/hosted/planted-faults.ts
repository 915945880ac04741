import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestNetwork } from '../network/network.ts';
import type { Provider } from '../network/provider.ts';
import { crawl } from './crawl.ts';
import { openScene, type Scene, type Served, teas } from './crawl-scene.ts';
import type { Spoiler } from './tampering-proxy.ts';

// Faults that are planted at providers, and what the crawler makes of each. All faults of a family are crawled together, each at a provider of
// its own, because a crawl takes its time; each has a test of its own.

export interface Fault {
  code: string;
  /** In words, after the document. */
  what: string;
  /** Which document the log says it is about; left out where it is none. */
  document?: string;
  /** @param kind the file that is about to be read: the baseline of a new catalog, the change of a known one */
  spoil(provider: Provider, kind: 'baseline' | 'change'): Spoiler;
}

/**
 * One test per fault: while it is there nothing of a new catalog is indexed, and a known one stays as it is; the log and the metrics tell it;
 * when it is mended, the catalog follows.
 *
 * @param options.follows the fault does not keep a catalog that is known from following
 */
export function describeFaults(
  name: string,
  network: () => TestNetwork,
  faults: readonly Fault[],
  options: { follows?: boolean } = {},
): void {
  describe(name, () => {
    let played: PlayedFault[] = [];
    beforeAll(async () => {
      played = await playFaults(network(), faults);
    }, playTimeoutMs);
    afterAll(async () => {
      await Promise.all(played.map(({ scene }) => scene.end()));
    });

    const known = options.follows ? 'a known catalog is still followed' : 'a known catalog stays as it was';
    const rows = faults.map((fault, index) => ({ ...fault, index }));
    it.each(rows)(`$code: $what: nothing new is indexed, ${known}`, async ({ code, index, document }) => {
      const { scene, fresh, mended, changed, mendedAgain } = played[index] ?? missing(index);
      expect(fresh).toBeUndefined();
      await scene.expectTold(code, document === undefined ? {} : { document });
      expect(mended).toEqual(teas(0, 10));
      expect(changed).toEqual(options.follows ? teas(1, 11) : teas(0, 10));
      expect(mendedAgain).toEqual(teas(1, 11));
    });
  });
}

const playTimeoutMs = 120_000;

/** The served states in the course of a fault. */
interface PlayedFault {
  scene: Scene;
  /** A new catalog: while the fault was there, and after it was mended. */
  fresh: Served;
  mended: Served;
  /** The same catalog, when the fault is there again for its next version, and after it was mended again. */
  changed: Served;
  mendedAgain: Served;
}

async function playFaults(network: TestNetwork, faults: readonly Fault[]): Promise<PlayedFault[]> {
  const plays = await Promise.all(faults.map(async (fault) => ({ scene: await openScene(network), fault })));
  const look = async (act: (scene: Scene, fault: Fault) => Promise<void> | void): Promise<Served[]> => {
    await Promise.all(plays.map(({ scene, fault }) => act(scene, fault)));
    await crawl(network.database, { timeoutMs: playTimeoutMs });
    return Promise.all(plays.map(({ scene }) => scene.served()));
  };
  const fresh = await look(async ({ provider, offer }, { spoil }) => {
    provider.spoil(spoil(provider, 'baseline'));
    await offer(0, 10);
  });
  const mended = await look(({ provider }) => provider.spoil());
  const changed = await look(async ({ provider, offer }, { spoil }) => {
    provider.spoil(spoil(provider, 'change'));
    await offer(1, 11);
  });
  const mendedAgain = await look(({ provider }) => provider.spoil());
  return plays.map(({ scene }, index) => ({
    ...{ scene, fresh: fresh[index], mended: mended[index] },
    ...{ changed: changed[index], mendedAgain: mendedAgain[index] },
  }));
}

function missing(index: number): never {
  throw new Error(`fault ${index} was not played`);
}
