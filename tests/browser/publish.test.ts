import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  findSeriousViolations,
  signIn,
  signInByKeyboard,
  tabTo,
  useConsole,
} from '../support/pages/browser.ts';
import { hasChromium } from '../support/pages/chromium.ts';
import { until } from '../support/time.ts';

describe.skipIf(!hasChromium)('publishing on the page of npm start (needs Chromium)', () => {
  const scene = useConsole();
  let example: string;
  beforeAll(async () => {
    example = await readFile('examples/publish-chargers.json', 'utf8');
  });

  it('shows a fault at its line while it is typed', async () => {
    const page = await scene.visit('#/publish');
    const wrong = example.replace('"connectorType": "CCS2"', '"connectorType": "Wooden"');
    await page.getByLabel('Catalog as JSON').fill(wrong);
    const line = wrong.slice(0, wrong.indexOf('Wooden')).split('\n').length;
    await page.getByRole('button', { name: `Line ${line}`, exact: true }).click();
    const isSelected = () => page.evaluate<boolean>("getSelection().toString().includes('Wooden')");
    await until(isSelected, 'the faulty line to be selected');
    expect(await page.getByRole('button', { name: 'Publish', exact: true }).isDisabled()).toBe(true);
  });

  it('publishes a catalog through the service, asks for the token, and shows it arrive', async () => {
    const page = await scene.visit('#/publish');
    await page.getByLabel('Catalog as JSON').fill(named(example, 'mouse', 'Lanternrow'));
    await page.getByText('No faults').waitFor();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await signIn(page, scene.token);
    await isIndexed(page);
    expect(await findSeriousViolations(page)).toEqual([]);
    // The progress of one publish must not remain below the check of the next text.
    await page.getByLabel('Catalog as JSON').fill(named(example, 'other', 'Lanternrow'));
    await page.getByRole('status', { name: 'Progress' }).waitFor({ state: 'detached' });
    await page.goto(`${scene.url}/#/find?text=Lanternrow`);
    await page.getByRole('list', { name: 'Results' }).getByText('Bay 1: DC fast charger').waitFor();
  });

  it('shows no progress below a text that was changed while the publish was being sent', async () => {
    const page = await scene.visit('#/publish');
    await page.context().request.post(`${scene.url}/api/session`, { data: { token: scene.token } });
    let answer = () => {};
    const isChanged = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route('**/api/publish', async (route) => {
      const response = await route.fetch();
      await isChanged;
      await route.fulfill({ response });
    });
    const editor = page.getByLabel('Catalog as JSON');
    await editor.fill(named(example, 'sent', 'Wickhouse'));
    await page.getByText('No faults').waitFor();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('button', { name: 'Publishing …' }).waitFor();
    await editor.fill(named(example, 'changed', 'Wickhouse'));
    answer();
    await page.getByRole('button', { name: 'Publish', exact: true }).waitFor();
    expect(await page.getByRole('region', { name: 'Publish' }).getByRole('status').count()).toBe(0);
    // The result of the sent text is still known.
    await editor.fill(named(example, 'sent', 'Wickhouse'));
    await isIndexed(page);
  });

  it('publishes as another identity whose key is on this machine', async () => {
    const page = await scene.visit('#/publish');
    await page.getByLabel('Catalog as JSON').fill(named(example, 'chosen', 'Beaconfield'));
    await page.getByLabel('Signed by').selectOption('provider.signpost.test');
    await page.getByText('No faults').waitFor();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await signIn(page, scene.token);
    await isIndexed(page);
    await page.goto(`${scene.url}/#/network?tab=catalogs&owner=provider.signpost.test`);
    await page.getByText('chosen').first().waitFor();
  });

  it('does the same by keyboard alone', async () => {
    const page = await scene.visit('#/publish');
    await tabTo(page, 'Catalog as JSON');
    await page.keyboard.insertText(named(example, 'keys', 'Candlecourt'));
    await page.getByText('No faults').waitFor();
    await tabTo(page, 'Publish');
    await page.keyboard.press('Enter');
    await signInByKeyboard(page, scene.token);
    await isIndexed(page);
    await tabTo(page, 'Find');
    await page.keyboard.press('Enter');
    await page.getByRole('list', { name: 'Results' }).getByText('Bay 1: DC fast charger').waitFor();
  });

  it('publishes a catalog as signed files, which the crawler of the demo reads', async () => {
    const page = await scene.visit('#/publish');
    await page.getByLabel('Catalog as JSON').fill(named(example, 'files', 'Torchmarket'));
    await page.getByText('No faults').waitFor();
    await page.getByLabel(/^As signed files/).check();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await signIn(page, scene.token);
    await page.locator('.progress .done', { hasText: 'Signed files written' }).waitFor();
    await page.locator('.progress .done', { hasText: 'Indexed' }).waitFor();
    expect(await findSeriousViolations(page)).toEqual([]);
    await page.goto(`${scene.url}/#/find?text=Torchmarket`);
    await page.getByRole('list', { name: 'Results' }).getByText('Bay 1: DC fast charger').waitFor();
  });

  it('publishes signed files by keyboard alone', async () => {
    const page = await scene.visit('#/publish');
    await tabTo(page, 'Catalog as JSON');
    await page.keyboard.insertText(named(example, 'typed', 'Flareplaza'));
    await page.getByText('No faults').waitFor();
    await tabTo(page, /^Through the catalog service/);
    await page.keyboard.press('ArrowDown');
    await tabTo(page, 'Publish');
    await page.keyboard.press('Enter');
    await signInByKeyboard(page, scene.token);
    await page.locator('.progress .done', { hasText: 'Indexed' }).waitFor();
  });
});

/** The example as another catalog, with different resources. */
function named(example: string, id: string, name: string): string {
  return example
    .replaceAll('voltpath-indiranagar', `voltpath-${id}`)
    .replaceAll('voltpath:', `voltpath-${id}:`)
    .replaceAll('Voltpath Indiranagar', name);
}

async function isIndexed(page: Page): Promise<void> {
  await page.locator('.progress .done', { hasText: 'Indexed' }).waitFor();
  await page.getByText('ACCEPTED', { exact: true }).waitFor();
}
