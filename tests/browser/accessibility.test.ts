import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsoleScene,
  findSeriousViolations,
  hasChromium,
  startConsoleScene,
} from '../support/browser.ts';

const pages = [
  '#/find',
  '#/find?text=charger',
  '#/inspect',
  '#/inspect?q=publisher.signpost.test',
  '#/publish',
  '#/debug',
  '#/debug?tab=inbox',
  ...['participants', 'subscriptions', 'deliveries', 'nodes', 'log', 'catalogs', 'masters', 'audit'].map(
    (tab) => `#/network?tab=${tab}`,
  ),
  '#/health',
];

describe.skipIf(!hasChromium)('the page of the console (needs Chromium)', () => {
  let scene: ConsoleScene;
  beforeAll(async () => {
    scene = await startConsoleScene();
  });
  afterAll(() => scene?.close());

  describe.each(['light', 'dark'] as const)('in %s colours', (colorScheme) => {
    it.each(pages)('has nothing at %s that keeps somebody from using it', async (path) => {
      const { page, hosts, errors } = await scene.visit(path, { colorScheme });
      await page.waitForLoadState('load');
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      expect(await findSeriousViolations(page)).toEqual([]);
      expect(errors).toEqual([]);
      expect([...hosts]).toEqual([new URL(scene.url).host]);
      await page.context().close();
    });
  });
});
