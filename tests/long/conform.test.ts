import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogFaults } from '../support/catalog-faults.ts';
import { type ConformScene, startConformScene } from '../support/conform-scene.ts';
import { discoveryFaults } from '../support/discovery-faults.ts';

// Every planted fault alone: `signpost conform` fails the check that is there for it, and no other.

describe('signpost conform', () => {
  let scene: ConformScene;
  beforeAll(async () => {
    scene = await startConformScene();
  });
  afterAll(() => scene?.close());

  const planted = [
    ...catalogFaults.map((fault) => ({ role: 'catalog' as const, ...fault })),
    ...discoveryFaults.map((fault) => ({ role: 'discovery' as const, ...fault })),
  ];

  it.each(planted)('finds in a $role service: $check, $what', async ({ role, ...fault }) => {
    // Long enough for whatever comes; where a callback is dropped, the whole of it is waited for.
    const { failed, actual } = await scene.check(role, [fault], ['--wait', '10']);
    expect({ failed, actual }).toMatchObject({ failed: [fault.check] });
  });
});
