import { describe, expect, it } from 'vitest';
import { useConsole } from '../support/pages/browser.ts';
import { hasChromium } from '../support/pages/chromium.ts';
import { startConsoleProcess } from '../support/processes/console-process.ts';
import { startUp } from '../support/processes/up-process.ts';

// The short form; `npm run test:browser` has the rest.

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
    await page.getByRole('status', { name: 'Verdict' }).getByText('healthy').first().waitFor();
  });

  it('copes with a console that takes no more listeners: says so, reads at intervals, and listens again', async () => {
    const left = new AbortController();
    const listen = () => fetch(new URL('/api/events', scene.url), { signal: left.signal });
    const others = await Promise.all(Array.from({ length: 10 }, listen));
    expect(others.map(({ status }) => status)).toEqual(Array(10).fill(200));
    const page = await scene.visit('#/health');
    await page.getByRole('status').getByText('Not live').waitFor();
    const reading = page.waitForRequest((request) => request.url().endsWith('/api/health/troubles'));
    await page.getByRole('status', { name: 'Verdict' }).getByText('healthy').first().waitFor();
    await reading;
    left.abort();
    await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
  });
});
