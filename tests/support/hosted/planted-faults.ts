import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestNetwork } from '../network/network.ts';
import type { Provider } from '../network/provider.ts';
import { crawl } from './crawl.ts';
import { openScene, type Scene, type Served, teas } from './crawl-scene.ts';
import type { Spoiler } from './tampering-proxy.ts';

// Faults that are planted at providers, and the crawler's reactions. A crawl takes time, so all faults of a family are crawled together, each at a
// separate provider; each has a separate test.

export interface Fault {
  code: string;
  /** Says what is wrong with the document. */
  what: string;
  /** The document that the log names; omitted if it names none. */
  document?: string;
  /** @param kind the file that is read next: the baseline of a new catalog, the change of a known one */
  spoil(provider: Provider, kind: 'baseline' | 'change'): Spoiler;
}

/**
 * One test per fault: during the fault, a new catalog is not indexed and a known one does not change, and log and metrics report it; after the
 * repair, the catalog is updated.
 *
 * @param options.follows the fault does not stop the updates of a known catalog
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

/** The served states during a fault. */
interface PlayedFault {
  scene: Scene;
  /** A new catalog: during the fault, and after the repair. */
  fresh: Served;
  mended: Served;
  /** The same catalog, when the fault returns with its next version, and after the second repair. */
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
