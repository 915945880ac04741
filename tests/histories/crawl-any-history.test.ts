import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogOf, openScene, type Scene, teas } from '../support/hosted/crawl-scene.ts';
import { forge } from '../support/hosted/forged-node.ts';
import { answers, copyOf, oldCopy, only, unchanged } from '../support/hosted/tampering.ts';
import type { TamperingProxy } from '../support/hosted/tampering-proxy.ts';
import { held } from '../support/network/discovery.ts';
import type { TestNetwork } from '../support/network/network.ts';
import type { HostedAnswer, Spoiler } from '../support/network/provider.ts';
import { type ProxiedNetwork, startBehindProxy } from '../support/network/registry-proxy.ts';

// Random histories: a provider publishes, pauses, compacts and rotates its key, while the crawler meets old indexes, indexes without the catalog, and
// hosts and registries that are down, in any order.

let proxied: ProxiedNetwork;
let network: TestNetwork;
let registry: TamperingProxy;
let scene: Scene;

beforeAll(async () => {
  proxied = await startBehindProxy();
  ({ network, registry } = proxied);
});
afterAll(() => proxied?.close());

/** Compacts soon. */
const limits = { compactionChanges: 3, compactionFraction: 10 };

/** The provider's actions before the next crawl, and the faults that the crawler meets then. */
interface Step {
  act: 'publish' | 'rebase' | 'pause' | 'resume' | 'rotate' | 'nothing';
  view: 'as it is' | 'an old index' | 'an index without it' | '304' | 'no host' | 'no registry';
  from: number;
  count: number;
  /** Which earlier index, from the first (0) to the last (1). */
  age: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom<Step['act']>(
    'publish',
    'publish',
    'publish',
    'rebase',
    'pause',
    'resume',
    'rotate',
    'nothing',
  ),
  view: fc.oneof(
    { weight: 2, arbitrary: fc.constant<Step['view']>('as it is') },
    {
      weight: 3,
      arbitrary: fc.constantFrom<Step['view']>(
        'an old index',
        'an index without it',
        '304',
        'no host',
        'no registry',
      ),
    },
  ),
  from: fc.integer({ min: 0, max: 8 }),
  count: fc.integer({ min: 1, max: 12 }),
  age: fc.double({ min: 0, max: 0.999, noNaN: true }),
});

/** What an index of the provider says about its catalog. */
interface Announced {
  entryVersion: number;
  resources: object[];
  isActive: boolean;
  copy: HostedAnswer;
}

describe('whatever a provider does and the crawler meets', () => {
  it('what is served is the newest that was ever announced to it, and in the end what is published', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 12 }), async (steps) => {
        scene = await openScene(network, { limits });
        try {
          await live(steps);
        } finally {
          registry.spoil();
          await scene.end();
        }
      }),
      { numRuns: 2, endOnFailure: true },
    );
  });

  async function live(steps: readonly Step[]): Promise<void> {
    const { provider } = scene;
    const announced: Announced[] = [];
    let seen: Announced | undefined;
    for (const one of [firstStep, ...steps, lastStep]) {
      registry.spoil();
      provider.spoil();
      await act(one, announced);
      const latest = announced.at(-1);
      const old = announced[Math.floor(one.age * announced.length)];
      const met = one.view === 'as it is' ? latest : one.view === 'an old index' ? old : undefined;
      provider.spoil(viewOf(one, old));
      registry.spoil(one.view === 'no registry' ? answers(503) : undefined);
      await scene.look();
      if (met && met.entryVersion > (seen?.entryVersion ?? 0)) seen = met;
      const copy = await held(network.database, scene.catalogId);
      const told = JSON.stringify(one);
      expect(new Set(copy?.resources), told).toEqual(new Set(seen?.resources));
      expect([copy?.served, copy?.head.isActive], told).toEqual([true, seen?.isActive]);
    }
    expect(seen).toBe(announced.at(-1));
  }

  const firstStep: Step = { act: 'publish', view: 'as it is', from: 0, count: 10, age: 0 };
  const lastStep: Step = { act: 'nothing', view: 'as it is', from: 0, count: 0, age: 0 };

  let keys = 2;

  async function act({ act: what, from, count }: Step, announced: Announced[]): Promise<void> {
    const { provider, catalogId } = scene;
    const before = announced.at(-1);
    let resources = before?.resources ?? [];
    if (what === 'publish' || what === 'rebase') {
      resources = teas(from, from + count);
      const catalogs = [{ ...catalogOf(catalogId, from, from + count), isActive: before?.isActive ?? true }];
      await provider.publish({ forceBaseline: what === 'rebase', message: { catalogs } });
    } else if (what === 'rotate') await provider.rotate(`key-${keys++}`);
    else if (what !== 'nothing') await provider.publish({ [what]: [catalogId] });
    const copy = await copyOf(`${provider.url}/index/catalogs.index.json`);
    const [{ entryVersion, isActive }] = JSON.parse(copy.body.toString()).catalogs;
    if (entryVersion !== before?.entryVersion) announced.push({ entryVersion, isActive, resources, copy });
  }

  function viewOf({ view }: Step, old: Announced | undefined): Spoiler | undefined {
    switch (view) {
      case 'an old index':
        return old && only('index', oldCopy(old.copy));
      case 'an index without it':
        return forge(scene.provider, { index: (document) => void document.catalogs.splice(0) });
      case '304':
        return only('index', unchanged);
      case 'no host':
        return answers(503);
      default:
        return undefined;
    }
  }
});
