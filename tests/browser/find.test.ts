import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleScene, hasChromium, startConsoleScene, tabTo } from '../support/browser.ts';
import { until } from '../support/time.ts';
import { startByNpm } from '../support/up-process.ts';

describe.skipIf(!hasChromium)('finding a charger on the page of npm start (needs Chromium)', () => {
  let scene: ConsoleScene;
  beforeAll(async () => {
    scene = await startConsoleScene({}, startByNpm);
  });
  afterAll(() => scene?.close());

  it('draws a circle on the map, filters by connector, and reads the price', async () => {
    const { page, hosts, errors } = await scene.visit('#/find');
    await page.getByText('Filters').click();
    const kind = page.getByLabel('Kind of thing');
    await kind.selectOption({ label: await optionOf(page, /EV charger/) });
    await page.getByLabel('Connector type').selectOption('CCS2');
    await page.getByRole('button', { name: 'Draw a circle' }).click();
    await dragOnMap(page);
    await page.getByText(/^Within \d/).waitFor();
    expect(page.url()).toContain('within=');
    const result = page.getByRole('list', { name: 'Results' }).getByRole('button').first();
    await result.click();
    await page.getByText('Offers', { exact: true }).waitFor();
    expect(await result.textContent()).toMatch(/CCS2.*₹\d/s);
    const [, drawn = ''] = page.url().split('#');

    // The link asks the same, elsewhere.
    const other = await scene.visit(`#${drawn}`);
    await other.page.getByRole('list', { name: 'Results' }).waitFor();
    expect(await other.page.getByLabel('Connector type').inputValue()).toBe('CCS2');
    expect([...hosts, ...other.hosts]).toEqual(Array(2).fill(new URL(scene.url).host));
    expect([...errors, ...other.errors]).toEqual([]);
  });

  it('does the same by keyboard alone', async () => {
    const { page, errors } = await scene.visit('#/find');
    await tabTo(page, 'By numbers');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Radius (m)');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('8000');
    await tabTo(page, 'Search here');
    await page.keyboard.press('Enter');
    await page.getByText('Within 8 km').waitFor();
    await tabTo(page, /^Filters/);
    await page.keyboard.press('Enter');
    await tabTo(page, 'Kind of thing');
    await page.keyboard.type('Energy');
    await tabTo(page, 'Connector type');
    await page.keyboard.type('CCS2');
    await tabTo(page, /CCS2.*₹/s);
    await page.keyboard.press('Enter');
    await page.getByText('Offers', { exact: true }).waitFor();
    expect(errors).toEqual([]);
  });

  it('shows thirty results at first, and more on demand, also on a phone and by keyboard', async () => {
    const { page } = await scene.visit('#/find', { viewport: { width: 390, height: 844 } });
    const results = page.getByRole('list', { name: 'Results' }).getByRole('listitem');
    await page.getByText('30 of', { exact: false }).first().waitFor();
    expect(await results.count()).toBe(30);
    await page.getByRole('button', { name: 'Show 30 more' }).focus();
    await page.keyboard.press('Enter');
    await until(async () => (await results.count()) === 60, 'sixty results');
    const isFocused = 'document.querySelectorAll(".results > li")[30].contains(document.activeElement)';
    expect(await page.evaluate(isFocused)).toBe(true);
  });

  it('tells how a search was evaluated, and why a resource is not in it', async () => {
    const { page } = await scene.visit('#/find?text=charger&near=0,0&within=1000');
    await page.getByText('Nothing matches.').waitFor();
    await page.getByRole('tab', { name: 'Explain' }).click();
    await page.getByText('The index proposes candidates').waitFor();
    await page.getByRole('tab', { name: 'Why not…?' }).click();
    const { catalogs } = await findChargers(scene);
    await page.getByLabel('Id of the resource').fill(catalogs[0]?.resources[0]?.id ?? '');
    await page.keyboard.press('Enter');
    await page.getByText('Lies in the area').waitFor();
  });

  it('is repeated from the list of searches that found nothing', async () => {
    const { page } = await scene.visit('#/health');
    const link = page.getByRole('link', { name: 'Search again for hydrogen pump' });
    // The consumer of the demo asks half a minute after the start.
    await until(async () => {
      if ((await link.count()) === 0) await page.reload();
      return (await link.count()) > 0;
    }, 'a search that found nothing');
    await link.click();
    await page.getByText('Nothing matches.').waitFor();
    expect(await page.getByLabel('What to look for').inputValue()).toBe('hydrogen pump');
  });
});

async function dragOnMap(page: Page): Promise<void> {
  const box = await page.locator('.map').boundingBox();
  if (!box) throw new Error('there is no map');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 200, y + 40, { steps: 5 });
  await page.mouse.up();
}

async function optionOf(page: Page, label: RegExp): Promise<string> {
  const option = page.getByLabel('Kind of thing').locator('option').filter({ hasText: label });
  await option.first().waitFor({ state: 'attached' });
  return (await option.first().textContent()) ?? '';
}

async function findChargers({ url }: ConsoleScene): Promise<{ catalogs: { resources: { id: string }[] }[] }> {
  const answer = await fetch(`${url}/api/find`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: { intent: { textSearch: 'charger' }, limit: 1 } }),
  });
  return (await answer.json()) as { catalogs: { resources: { id: string }[] }[] };
}
