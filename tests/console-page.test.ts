import { describe, expect, it } from 'vitest';
import { useConsole } from './support/browser.ts';
import { hasChromium } from './support/chromium.ts';
import { startConsoleProcess } from './support/console-process.ts';
import { startUp } from './support/up-process.ts';

// In short; `npm run test:browser` has the rest.

describe.skipIf(!hasChromium)('the page of signpost up (needs Chromium)', () => {
  const scene = useConsole(() => startConsoleProcess(startUp));

  it('opens every page without an error, and asks nobody but the console', async () => {
    const page = await scene.visit('#/find');
    await page.getByRole('list', { name: 'Results' }).waitFor();
    for (const name of ['Inspect', 'Publish', 'Debug', 'Network', 'Health']) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      expect(await page.locator('.problem').allTextContents(), name).toEqual([]);
    }
  });
});
