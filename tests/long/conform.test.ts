import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crawlChecks } from '../../src/conform/crawl-checks.ts';
import { catalogFaults } from '../support/conform/catalog-faults.ts';
import { type ConformScene, crawling, startConformScene } from '../support/conform/conform-scene.ts';
import { crawlFaults } from '../support/conform/crawl-faults.ts';
import { discoveryFaults } from '../support/conform/discovery-faults.ts';

// Plants each fault alone: `signpost conform` fails its check, and no other.

describe('signpost conform', () => {
  let scene: ConformScene;
  beforeAll(async () => {
    scene = await startConformScene(crawling);
  });
  afterAll(() => scene?.close());

  const planted = [
    ...catalogFaults.map((fault) => ({ role: 'catalog' as const, ...fault })),
    ...discoveryFaults.map((fault) => ({ role: 'discovery' as const, ...fault })),
  ];

  it.each(planted)('finds in a $role service: $check, $what', async ({ role, ...fault }) => {
    // Long enough for all callbacks; the whole time passes if a callback is dropped.
    const { failed, actual } = await scene.check(role, [fault], ['--wait', '10']);
    expect({ failed, actual }).toMatchObject({ failed: [fault.check] });
  });

  it.each(crawlFaults)('finds in a discovery service that crawls: $check, $what', async (fault) => {
    const { failed, actual } = await scene.checkCrawl([fault], [...crawlOnly, '--crawl-wait', '20']);
    expect({ failed, actual }).toMatchObject({ failed: [fault.check] });
  });
});

const crawlOnly = crawlChecks.flatMap(({ name }) => ['--only', name]);
