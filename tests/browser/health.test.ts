import type { Page } from 'playwright-core';
import { describe, it } from 'vitest';
import type { Series } from '../../src/console/answers/health.ts';
import { useConsole } from '../support/pages/browser.ts';
import { hasChromium } from '../support/pages/chromium.ts';
import { until } from '../support/time.ts';

describe.skipIf(!hasChromium)('the health on the page of npm start (needs Chromium)', () => {
  const scene = useConsole();

  it('begins with a verdict', async () => {
    const page = await scene.visit('#/health');
    const verdict = page.locator('.health > .health-head + section');
    await verdict.getByText(/^(Not h|H)ealthy$/).waitFor();
  });

  it('leads from parked deliveries to their list', async () => {
    const page = await scene.visit('#/health');
    // One discovery service of the demo is down.
    await page.getByRole('link', { name: 'Show parked deliveries' }).click();
    await page.getByRole('table', { name: 'receivers' }).waitFor();
    await page.waitForURL(/state=parked/);
  });

  it.each([
    ['Time to answer', 'discoverP99Ms', 'goal 2.5 s'],
    ['Event loop', 'eventLoopP99Ms', 'goal 500 ms'],
  ])('draws the goal as a line in the chart %s', async (title, name, words) => {
    const page = await scene.visit('#/find');
    // Both charts get a flat line at 10 ms, and their goal.
    await page.route('**/api/health/series*', async (route) => {
      const response = await route.fetch();
      const { goals } = (await response.json()) as Series;
      const minute = Math.floor(Date.now() / 60_000) * 60;
      const rows = Array.from({ length: 60 }, (_, index) => [minute - (60 - index) * 60, 10, 10]);
      await route.fulfill({ json: { names: Object.keys(goals), rows, goals } });
    });
    await page.evaluate("location.hash = '#/health'");
    const panel = page.locator('.chart-panel', { has: page.getByRole('heading', { name: title }) });
    await panel.getByText(words).waitFor();
    await until(async () => (await countLines(page, title)) === 2, `two lines of ${name}`);
  });
});

/** The horizontal lines of a chart: rows of its canvas that are coloured for a third or more. Grid and labels are grey. */
function countLines(page: Page, title: string): Promise<number> {
  return page.evaluate<number>(`(() => {
    const canvas = document.querySelector('[aria-label="${title} over time"] canvas');
    if (!canvas?.width) return 0;
    const { width, height } = canvas;
    const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
    const isColoured = (at) => data[at + 3] > 0 && Math.max(data[at], data[at + 1], data[at + 2]) - Math.min(data[at], data[at + 1], data[at + 2]) > 40;
    const rows = Array.from({ length: height }, (_, row) =>
      Array.from({ length: width }, (_, column) => 4 * (row * width + column)).filter(isColoured).length >= width / 3);
    return rows.filter((isLine, row) => isLine && !rows[row - 1]).length;
  })()`);
}
