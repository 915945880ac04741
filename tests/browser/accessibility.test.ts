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

    it('has nothing that keeps somebody from using it where forms are filled in and details open', async () => {
      const find = await scene.visit('#/find?text=charger', { colorScheme });
      await find.page.getByText('Filters').click();
      await find.page.getByRole('list', { name: 'Results' }).getByRole('button').first().click();
      await find.page.getByText('Offers', { exact: true }).waitFor();
      expect(await findSeriousViolations(find.page)).toEqual([]);

      const publish = await scene.visit('#/publish', { colorScheme });
      await publish.page.getByLabel('Catalog as JSON').fill('{"id": 1}');
      await publish.page.getByText(/^\d+ faults?$/).waitFor();
      expect(await findSeriousViolations(publish.page)).toEqual([]);

      const debug = await scene.visit('#/debug', { colorScheme });
      await debug.page.getByLabel('Authorization header, or all headers').fill('Signature nonsense');
      await debug.page.getByRole('button', { name: 'Check the signature' }).click();
      await debug.page.locator('.signature-verdict').waitFor();
      expect(await findSeriousViolations(debug.page)).toEqual([]);

      const { page } = await scene.visit('#/debug', { colorScheme });
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('dialog').waitFor();
      expect(await findSeriousViolations(page)).toEqual([]);
    });
  });
});
