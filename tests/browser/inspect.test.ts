import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  findSeriousViolations,
  signIn,
  signInByKeyboard,
  tabTo,
  useConsole,
} from '../support/pages/browser.ts';
import { hasChromium } from '../support/pages/chromium.ts';

const node = 'publisher.signpost.test';

describe.skipIf(!hasChromium)('inspecting a node on the page of npm start (needs Chromium)', () => {
  const scene = useConsole();

  it('shows the chain break at the file that somebody has changed, and hold again when it is back', async () => {
    const page = await scene.visit(`#/inspect?q=${node}`);
    const link = page.locator('.chain li', { hasText: 'files' });
    await page.locator('.chain li.ok', { hasText: 'files' }).waitFor();
    await link.getByRole('button').click();
    const file = await shownFile(page);
    const signed = await readFile(file, 'utf8');

    await writeFile(file, `${signed} `);
    await page.getByRole('button', { name: 'Crawl now' }).click();
    await signIn(page, scene.token);
    await page.locator('.chain li.broken', { hasText: 'files' }).waitFor();
    expect(await page.locator('.chain li.ok', { hasText: 'index' }).count()).toBeGreaterThan(0);
    // Meanwhile, the previously indexed version is served.
    await page.getByRole('heading', { name: 'Discoverable, with warnings' }).waitFor();
    expect(await findSeriousViolations(page)).toEqual([]);

    await writeFile(file, signed);
    await page.getByRole('button', { name: 'Crawl now' }).click();
    await page.locator('.chain li.ok', { hasText: 'files' }).waitFor();
  });

  it('does the same by keyboard alone', async () => {
    const page = await scene.visit('#/inspect');
    await tabTo(page, 'Node, catalog, resource or address');
    await page.keyboard.type(node);
    await page.keyboard.press('Enter');
    await page.locator('.chain li.ok', { hasText: 'files' }).waitFor();
    await tabTo(page, /^files/);
    await page.keyboard.press('Enter');
    const file = await shownFile(page);
    const signed = await readFile(file, 'utf8');

    await writeFile(file, `${signed} `);
    await tabTo(page, 'Crawl now', 'Shift+Tab');
    await page.keyboard.press('Enter');
    await signInByKeyboard(page, scene.token);
    await page.locator('.chain li.broken', { hasText: 'files' }).waitFor();
    expect(await page.locator('.chain li.ok', { hasText: 'entry' }).count()).toBe(1);
    expect(await page.locator('.verdict-panel').textContent()).toMatch(
      /breaks at “Signed files” \(digest-mismatch\)/,
    );

    await writeFile(file, signed);
    await page.keyboard.press('Enter');
    await page.locator('.chain li.ok', { hasText: 'files' }).waitFor();
  });

  it('compares what is indexed with what the catalog service stores', async () => {
    const page = await scene.visit('#/inspect?q=voltpath-mg-road');
    await page.getByRole('button', { name: /^Compare what is indexed/ }).click();
    await page.getByText('No difference.').waitFor();
  });

  /** The file in the details of the selected link. */
  async function shownFile(page: Page): Promise<string> {
    const address = await page.locator('.link-details dd', { hasText: 'http' }).first().textContent();
    return join(scene.dataDir, 'publisher', 'public', new URL(address ?? '').pathname);
  }
});
