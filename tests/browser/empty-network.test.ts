import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { useConsole } from '../support/pages/browser.ts';
import { hasChromium } from '../support/pages/chromium.ts';
import { writeTiles } from '../support/pages/vector-tiles.ts';
import { startConsoleProcess } from '../support/processes/console-process.ts';
import { startCommand } from '../support/processes/up-process.ts';
import { until, watchFor } from '../support/time.ts';

describe.skipIf(!hasChromium)('the page of an empty network, with MAP_TILES (needs Chromium)', () => {
  const directory = mkdtempSync(join(tmpdir(), 'signpost-tiles-'));
  const file = join(directory, 'world.pmtiles');
  const tiles = writeTiles();
  writeFileSync(file, tiles.file);
  afterAll(() => rmSync(directory, { recursive: true }));
  const scene = useConsole(() =>
    startConsoleProcess((dataDir, settings) => startCommand(['up', '--empty'], dataDir, settings), {
      MAP_TILES: file,
    }),
  );

  /** The colours in the middle of all tiles, once they are painted. The map shows a quarter of a tile of the file as one. */
  const coloursOf = (page: Page) =>
    until(async () => {
      const colours = new Set(await page.evaluate<string[]>(readColours));
      return colours.size > 0 && colours;
    }, 'painted tiles');
  const readColours = `[...document.querySelectorAll('canvas.leaflet-tile-loaded')].map((tile) =>
    tile.getContext('2d').getImageData(tile.width / 2, tile.height / 2, 1, 1).data.join())`;

  /** The key of a tile ends with its zoom. */
  const areEnlarged = `[...document.querySelectorAll('canvas.leaflet-tile-loaded')].every((tile) => tile.key.endsWith(':15'))`;

  it('draws the tiles of the file in the colours of the page, and asks no other host', async () => {
    const page = await scene.visit('#/find', { colorScheme: 'light' });
    const both = await until(async () => {
      const colours = await coloursOf(page);
      return colours.size === 2 && colours;
    }, 'water and land');
    expect(await page.locator('.map-problem').count()).toBe(0);
    // Beyond the file's last zoom, 12, its tiles are enlarged.
    await page.goto(`${scene.url}/#/find?near=12.97,77.59&within=100`);
    await until(() => page.evaluate<boolean>(areEnlarged), 'enlarged tiles');
    for (const colour of await coloursOf(page)) expect(both).toContain(colour);
    const dark = await scene.visit('#/find', { colorScheme: 'dark' });
    for (const colour of await coloursOf(dark)) expect(both).not.toContain(colour);
  });

  it.each(['find', 'network'])('offers the first steps on %s', async (path) => {
    const page = await scene.visit(`#/${path}`);
    const steps = page.getByRole('region', { name: 'This network has no catalog yet.' });
    await steps.getByRole('link', { name: 'Import a file' }).waitFor();
    await steps.getByRole('link', { name: 'Connect a node' }).waitFor();
    await steps.getByRole('link', { name: 'Publish your first catalog' }).click();
    await page.getByRole('heading', { level: 1, name: 'Publish' }).waitFor();
  });

  it.each([
    ...['find', 'inspect', 'publish', 'debug', 'debug?tab=inbox', 'health'],
    ...['catalogs', 'deliveries', 'nodes', 'log', 'participants', 'subscriptions', 'masters', 'audit'].map(
      (tab) => `network?tab=${tab}`,
    ),
  ])('shows nothing red on %s, and links to its guide and to the API', async (path) => {
    const page = await scene.visit(`#/${path}`);
    if (path === 'health') await page.getByText('Healthy', { exact: true }).waitFor();
    await until(async () => (await page.locator('.loading').count()) === 0, 'the page');
    expect(await page.evaluate(findRed)).toEqual([]);
    const hrefs = ['Guide', 'API'].map((name) => page.getByRole('link', { name }).getAttribute('href'));
    expect(await Promise.all(hrefs)).toEqual([expect.stringMatching(/^guides\/.+\.md$/), 'docs']);
  });
  const findRed = `(() => {
    const probe = document.body.appendChild(document.createElement('p'));
    const red = ['--bad', '--bad-wash'].map((name) => {
      probe.style.color = 'var(' + name + ')';
      return getComputedStyle(probe).color;
    });
    probe.remove();
    return [...document.querySelectorAll('body *')]
      .filter((element) => element.checkVisibility() && element.textContent.trim() !== '')
      .filter((element) => {
        const { color, backgroundColor } = getComputedStyle(element);
        return red.includes(color) || red.includes(backgroundColor);
      })
      .map((element) => element.textContent);
  })()`;

  it('opens the map where the time zone of the browser is', async () => {
    const page = await scene.visit('#/find', { timezoneId: 'Asia/Kolkata' });
    await page.getByRole('button', { name: 'Draw a circle' }).click();
    await page.locator('.drawing').waitFor();
    // A circle around the middle of the map.
    await page.keyboard.press('Enter');
    await page.getByText(/^Within 3 km of 2[45]\.\d+, 8[23]\.\d+\./).waitFor();
  });

  it.each(['/tiles/', 'countries-110m'])(
    'that is left while %s is still being fetched has no script fail',
    async (part) => {
      const page = await scene.visit('#/health');
      let isAsked = false;
      let answer = () => {};
      const answered = new Promise<void>((resolve) => {
        answer = resolve;
      });
      const wanted = (url: URL) => url.pathname.includes(part);
      await page.route(wanted, async (route) => {
        isAsked = true;
        await answered;
        await route.continue();
      });
      await page.goto(`${scene.url}/#/find`);
      await until(() => isAsked, 'the request');
      await page.goto(`${scene.url}/#/health`);
      await until(async () => (await page.locator('.leaflet-container').count()) === 0, 'the map to be gone');
      const fetched = page.waitForResponse((response) => wanted(new URL(response.url())));
      answer();
      await (await fetched).finished();
      await watchFor(500);
    },
  );

  it.each([
    ['is no PMTiles file', () => Buffer.from('<html>Not found</html>'), /Wrong magic number/],
    [
      'ends before its tiles',
      () => tiles.file.subarray(0, tiles.tilesAt),
      /a tile of it cannot be read, so it may not be complete/,
    ],
    [
      'has pictures',
      () => Buffer.from(tiles.file).fill(2, 99, 100),
      /its tiles are pictures, not vector tiles/,
    ],
  ])('says in words that the file %s', async (_, content, reason) => {
    writeFileSync(file, content());
    const page = await scene.visit('#/find');
    const problem = page.getByRole('alert');
    await problem.waitFor();
    expect(await problem.textContent()).toMatch(/^The map of MAP_TILES cannot be shown: /);
    expect(await problem.textContent()).toMatch(reason);
  });
});
