import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { type ConsoleScene, phone, tabTo, useConsole } from '../support/pages/browser.ts';
import { hasChromium } from '../support/pages/chromium.ts';
import { until } from '../support/time.ts';

describe.skipIf(!hasChromium)('finding a charger on the page of npm start (needs Chromium)', () => {
  const scene = useConsole();

  it('draws a circle on the map, filters by connector, and reads the price', async () => {
    const page = await scene.visit('#/find');
    await page.getByText('Filters').click();
    const kind = page.getByLabel('Resource type');
    await kind.selectOption({ label: await optionOf(page, /EV charger/) });
    await page.getByLabel('Connector type').selectOption('CCS2');
    await page.getByRole('button', { name: 'Draw a circle' }).click();
    await dragOnMap(page);
    await page.getByText(/^Within \d/).waitFor();
    await page.waitForURL(/within=/);
    const result = page.getByRole('list', { name: 'Results' }).getByRole('button').first();
    await result.click();
    await page.getByText('Offers', { exact: true }).waitFor();
    expect(await result.textContent()).toMatch(/CCS2.*₹\d/s);
    const [, drawn = ''] = page.url().split('#');

    // The link repeats the search in another window.
    const other = await scene.visit(`#${drawn}`);
    await other.getByRole('list', { name: 'Results' }).waitFor();
    const repeated = other.getByLabel('Connector type');
    await until(async () => (await repeated.inputValue()) === 'CCS2', 'the connector type of the link');
  });

  it('keeps results in view while filters are open, and on a phone begins with the search box', async () => {
    const page = await scene.visit('#/find?text=charger');
    await page.getByText('Filters').click();
    const kind = page.getByLabel('Resource type');
    await kind.selectOption({ label: await optionOf(page, /EV charger/) });
    await page.getByLabel('Connector type').waitFor();
    const result = await topOf(page, '.results > li');
    expect(result).toBeLessThan(page.viewportSize()?.height ?? 0);
    const small = await scene.visit('#/find', phone);
    const tops: number[] = [];
    for (const part of ['.search-field', '.map', '.results']) tops.push(await topOf(small, part));
    expect(tops).toEqual([...tops].sort((one, other) => one - other));
  });

  it('selects no text when a circle is dragged beyond the map', async () => {
    const page = await scene.visit('#/find?text=charger');
    await page.getByRole('list', { name: 'Results' }).waitFor();
    await page.getByRole('button', { name: 'Draw a circle' }).click();
    const [x, y] = await middleOfMap(page);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(100, y, { steps: 5 });
    expect(await page.evaluate('getSelection().toString()')).toBe('');
    await page.mouse.up();
    await page.getByText(/^Within \d/).waitFor();
    expect(await page.evaluate('getSelection().toString()')).toBe('');
  });

  it('says when the results that are sorted by price are not all that match', async () => {
    const page = await scene.visit('#/find?text=charger');
    const sorting = page.getByLabel('Sort by');
    await sorting.selectOption('by price');
    const says = page.getByText(/^Only the [\d,]+ results on this page are sorted by price\.$/);
    await page.getByRole('list', { name: 'Results' }).waitFor();
    const { resourceCount, total } = await findChargers(scene, 300);
    expect([resourceCount, await says.count()]).toEqual([total, 0]);
    await page.route('**/api/find', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), total: 1_000 } });
    });
    await page.getByLabel('What to look for').fill('chargers');
    await says.waitFor();
    expect(await sorting.inputValue()).toBe('price');
  });

  it('shows name, price and availability of a result on the map, until somebody closes it', async () => {
    const page = await scene.visit('#/find?text=bay+CCS2');
    const result = page.getByRole('list', { name: 'Results' }).getByRole('button').first();
    await result.click();
    const popup = page.getByRole('region', { name: /^On the map: / });
    await popup.waitFor();
    expect(await popup.textContent()).toMatch(
      /₹[\d.]+ per kWh(available|charging|out of order|blocked|reserved)/,
    );
    expect(await popup.getByRole('link', { name: /^Details of / }).getAttribute('href')).toContain('inspect');
    await page.getByRole('button', { name: 'Close popup' }).click();
    await popup.waitFor({ state: 'detached' });
    expect(await result.getAttribute('aria-expanded')).toBe('false');
  });

  it('draws the circle by keyboard alone, and does the rest by it', async () => {
    const page = await scene.visit('#/find');
    await tabTo(page, 'Draw a circle');
    await page.keyboard.press('Enter');
    await page.locator('.drawing').waitFor();
    await page.keyboard.press('Space');
    await moveMap(page, 'ArrowRight');
    await page.keyboard.press('Enter');
    await page.getByText(/^Within \d/).waitFor();
    await page.waitForURL(/within=/);
    await filterByKeyboard(page);
  });

  it('takes the circle as numbers, by keyboard alone', async () => {
    const page = await scene.visit('#/find');
    await tabTo(page, 'Enter coordinates');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Radius (m)');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('8000');
    await tabTo(page, 'Search here');
    await page.keyboard.press('Enter');
    await page.getByText('Within 8 km').waitFor();
    await filterByKeyboard(page);
  });

  it('answers as one types, before the word is finished', async () => {
    const page = await scene.visit('#/find');
    await page.getByLabel('What to look for').pressSequentially('charg');
    await page.getByRole('list', { name: 'Results' }).getByRole('listitem').first().waitFor();
    await page.waitForURL(/text=charg/);
    await page.getByRole('tab', { name: 'Explain' }).click();
    await page.getByText('begun').first().waitFor();
  });

  it('draws a polygon on the map, and finds what lies in it', async () => {
    const page = await scene.visit('#/find?text=charger');
    const results = page.getByRole('list', { name: 'Results' }).getByRole('listitem');
    await results.first().waitFor();
    await page.getByRole('button', { name: 'Draw a polygon' }).click();
    const [x, y] = await middleOfMap(page);
    for (const [right, down] of cornersInPixels) await page.mouse.click(x + right, y + down);
    // On the first corner again.
    await page.mouse.click(x + cornersInPixels[0][0], y + cornersInPixels[0][1]);
    await page.getByText('Within a polygon of 4 corners.').waitFor();
    await results.first().waitFor();
    const within = await countResults(page);
    await page.getByRole('button', { name: 'Remove the area' }).click();
    await until(async () => (await countResults(page)) > within, 'more chargers without the polygon');
  });

  it('draws a polygon by keyboard alone', async () => {
    const page = await scene.visit('#/find?text=charger');
    await tabTo(page, 'Draw a polygon');
    await page.keyboard.press('Enter');
    await page.locator('.drawing').waitFor();
    await page.keyboard.press('Space');
    for (const arrow of ['ArrowRight', 'ArrowDown']) {
      await moveMap(page, arrow);
      await page.keyboard.press('Space');
    }
    await page.keyboard.press('Enter');
    await page.getByText('Within a polygon of 3 corners.').waitFor();
    await tabTo(page, 'Remove the area');
    await page.keyboard.press('Enter');
    await page.getByText('Within a polygon', { exact: false }).waitFor({ state: 'detached' });
  });

  it('shows thirty results at first, and more on demand, also on a phone and by keyboard', async () => {
    const page = await scene.visit('#/find', phone);
    const results = page.getByRole('list', { name: 'Results' }).getByRole('listitem');
    await page.getByText('30 of', { exact: false }).first().waitFor();
    expect(await results.count()).toBe(30);
    await page.getByRole('button', { name: 'Show 30 more' }).focus();
    await page.keyboard.press('Enter');
    await until(async () => (await results.count()) === 60, 'sixty results');
    const isFocused = 'document.querySelectorAll(".results > li")[30].contains(document.activeElement)';
    await until(() => page.evaluate<boolean>(isFocused), 'the focus on the first of them');
  });

  it('tells how a search was evaluated, and why a resource is not in it', async () => {
    const page = await scene.visit('#/find?text=charger&near=0,0&within=1000');
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
    const page = await scene.visit('#/health');
    const link = page.getByRole('link', { name: 'Search again for hydrogen pump' });
    // The consumer of the demo asks half a minute after the start; the list reloads automatically.
    await link.click();
    await page.getByText('Nothing matches.').waitFor();
    expect(await page.getByLabel('What to look for').inputValue()).toBe('hydrogen pump');
  });
});

/** From the area to the price. */
async function filterByKeyboard(page: Page): Promise<void> {
  await tabTo(page, /^Filters/);
  await page.keyboard.press('Enter');
  await tabTo(page, 'Resource type');
  await optionOf(page, /EV charger/);
  await page.keyboard.type('Energy');
  await tabTo(page, 'Connector type');
  await page.keyboard.type('CCS2');
  await tabTo(page, /CCS2.*₹/s);
  await page.keyboard.press('Enter');
  await page.getByText('Offers', { exact: true }).waitFor();
}

async function moveMap(page: Page, arrow: string): Promise<void> {
  await page.keyboard.press(arrow);
  await page.locator('.leaflet-pan-anim').waitFor({ state: 'detached' });
}

const cornersInPixels = [
  [-120, -120],
  [120, -120],
  [120, 120],
  [-120, 120],
] as const;

async function countResults(page: Page): Promise<number> {
  const text = await page.getByText(/^[\d,]+( or more)? results?/).textContent();
  return Number.parseInt(text?.replaceAll(',', '') ?? '', 10);
}

async function topOf(page: Page, selector: string): Promise<number> {
  const box = await page.locator(selector).first().boundingBox();
  if (!box) throw new Error(`there is no ${selector}`);
  return box.y;
}

async function middleOfMap(page: Page): Promise<[x: number, y: number]> {
  const box = await page.locator('.map').boundingBox();
  if (!box) throw new Error('there is no map');
  return [box.x + box.width / 2, box.y + box.height / 2];
}

async function dragOnMap(page: Page): Promise<void> {
  const [x, y] = await middleOfMap(page);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 200, y + 40, { steps: 5 });
  await page.mouse.up();
}

async function optionOf(page: Page, label: RegExp): Promise<string> {
  const option = page.getByLabel('Resource type').locator('option').filter({ hasText: label });
  await option.first().waitFor({ state: 'attached' });
  return (await option.first().textContent()) ?? '';
}

async function findChargers({ url }: ConsoleScene, limit = 1): Promise<Found> {
  const answer = await fetch(`${url}/api/find`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: { intent: { textSearch: 'charger' }, limit } }),
  });
  return (await answer.json()) as Found;
}

interface Found {
  catalogs: { resources: { id: string }[] }[];
  resourceCount: number;
  total: number;
}
