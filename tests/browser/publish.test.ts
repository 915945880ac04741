import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleScene, hasChromium, signIn, startConsoleScene, tabTo } from '../support/browser.ts';

describe.skipIf(!hasChromium)('publishing on the page (needs Chromium)', () => {
  let scene: ConsoleScene;
  let example: string;
  beforeAll(async () => {
    scene = await startConsoleScene();
    example = await readFile('examples/publish-chargers.json', 'utf8');
  });
  afterAll(() => scene?.close());

  it('shows a fault at its line while it is typed', async () => {
    const { page } = await scene.visit('#/publish');
    const wrong = example.replace('"connectorType": "CCS2"', '"connectorType": "Wooden"');
    await page.getByLabel('Catalog as JSON').fill(wrong);
    const line = wrong.slice(0, wrong.indexOf('Wooden')).split('\n').length;
    await page.getByRole('button', { name: `Line ${line}`, exact: true }).click();
    const selected = await page.evaluate<string>('getSelection().toString()');
    expect(selected).toContain('Wooden');
    expect(await page.getByRole('button', { name: 'Publish', exact: true }).isDisabled()).toBe(true);
  });

  it('publishes a catalog through the service, asks for the token, and shows it arrive', async () => {
    const { page, hosts, errors } = await scene.visit('#/publish');
    await page.getByLabel('Catalog as JSON').fill(named(example, 'mouse', 'Lantern Street'));
    await page.getByText('No faults').waitFor();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await signIn(page, scene.token);
    await isIndexed(page);
    await page.goto(`${scene.url}/#/find?text=Lantern+Street`);
    await page.getByRole('list', { name: 'Results' }).getByText('Bay 1: DC fast charger').waitFor();
    expect([...hosts]).toEqual([new URL(scene.url).host]);
    expect(errors).toEqual([]);
  });

  it('does the same by keyboard alone', async () => {
    const { page } = await scene.visit('#/publish');
    await tabTo(page, 'Insert an example');
    await page.keyboard.press('Enter');
    await page.getByText('No faults').waitFor();
    await tabTo(page, 'Publish');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type(scene.token);
    await page.keyboard.press('Enter');
    await isIndexed(page);
  });
});

/** The example as another catalog, with resources of its own. */
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
