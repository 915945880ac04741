import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleScene, hasChromium, startConsoleScene } from './support/browser.ts';

// In short; `npm run test:browser` has the rest.

describe.skipIf(!hasChromium)('the page of signpost up (needs Chromium)', () => {
  let scene: ConsoleScene;
  beforeAll(async () => {
    scene = await startConsoleScene();
  });
  afterAll(() => scene?.close());

  it('opens every page without an error, and asks nobody but the console', async () => {
    const { page, hosts, errors } = await scene.visit('#/find');
    await page.getByRole('list', { name: 'Results' }).waitFor();
    for (const name of ['Inspect', 'Publish', 'Debug', 'Network', 'Health']) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      expect(await page.locator('.problem').allTextContents(), name).toEqual([]);
    }
    expect(errors).toEqual([]);
    expect([...hosts]).toEqual([new URL(scene.url).host]);
  });
});
