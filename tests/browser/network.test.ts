import { beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsoleScene,
  phone,
  signIn,
  signInByKeyboard,
  tabTo,
  useConsole,
} from '../support/pages/browser.ts';
import { hasChromium } from '../support/pages/chromium.ts';
import { until } from '../support/time.ts';

describe.skipIf(!hasChromium)('the network on the page of npm start (needs Chromium)', () => {
  const scene = useConsole();
  let receiver: string;
  beforeAll(async () => {
    // One discovery service of the demo is down.
    receiver = await until(() => findParked(scene), 'a parked delivery');
  });

  it('lists the nodes of one state, with the chosen tab in view on a phone', async () => {
    const path = '#/network?tab=nodes&state=with+failing+catalogs';
    const page = await scene.visit(path, phone);
    const rows = page.getByRole('table', { name: 'nodes' }).locator('tbody tr');
    await rows.filter({ hasText: 'minchu.signpost.test' }).waitFor();
    expect(await rows.count()).toBe(1);
    await until(async () => {
      const tab = await page.getByRole('tab', { name: /^Crawled nodes/ }).boundingBox();
      return tab !== null && tab.x >= 0 && tab.x + tab.width <= phone.viewport.width;
    }, 'the chosen tab in view');
  });

  it('warns of a key that ends soon', async () => {
    const page = await scene.visit('#/network?tab=participants&find=grocer');
    await page.getByText(/ends in \d+ days/).waitFor();
  });

  it('has a link to each delivery, which opens it with its attempts in another window', async () => {
    const page = await scene.visit(pathOf(receiver));
    const id = await page
      .getByRole('link', { name: /^push-\d+$/ })
      .first()
      .textContent();
    // By its name, because the list reloads meanwhile.
    await page.getByRole('link', { name: `${id}`, exact: true }).click();
    await page.waitForURL(new RegExp(`delivery=${id}`));
    const [, path] = page.url().split('#');
    const other = await scene.visit(`#${path}`);
    await other.getByRole('heading', { name: `${id} ` }).waitFor();
    await other.locator('.attempts > li').first().waitFor();
  });

  it('has parked deliveries, with the form that was sent, that are tried again when the operator replays one', async () => {
    const page = await scene.visit(pathOf(receiver));
    await page.getByRole('columnheader', { name: 'Form' }).waitFor();
    await page.getByRole('cell', { name: 'full', exact: true }).first().waitFor();
    await page
      .getByRole('button', { name: /^Replay push-/ })
      .first()
      .click();
    await signIn(page, scene.token);
    await page.getByText(/will be tried again/).waitFor();
    const { items } = await read(scene, '/api/audit');
    expect(items[0]).toMatchObject({ action: expect.stringContaining('replay') });
  });

  it('has parked deliveries that are tried again by keyboard alone', async () => {
    await until(() => findParked(scene), 'a parked delivery');
    const page = await scene.visit('#/find');
    await tabTo(page, 'Network');
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Catalogs' }).waitFor();
    await tabTo(page, /^Catalogs/);
    await page.keyboard.press('ArrowRight');
    await page.getByRole('table', { name: 'receivers' }).waitFor();
    await tabTo(page, new RegExp(`^${receiver.split('/')[0]}`));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: receiver }).waitFor();
    await page
      .getByRole('button', { name: /^Replay push-/ })
      .first()
      .waitFor();
    await tabTo(page, /^Replay push-/);
    await page.keyboard.press('Enter');
    await signInByKeyboard(page, scene.token);
    await page.getByText(/will be tried again/).waitFor();
  });
});

function pathOf(receiver: string): string {
  return `#/network?tab=deliveries&receiver=${encodeURIComponent(receiver)}&state=parked`;
}

async function findParked(scene: ConsoleScene): Promise<string | undefined> {
  const { items } = await read(scene, '/api/receivers?state=parked');
  return items.find(({ parked }) => Number(parked) > 0)?.receiver as string | undefined;
}

async function read({ url }: ConsoleScene, path: string): Promise<{ items: Record<string, unknown>[] }> {
  return (await (await fetch(`${url}${path}`)).json()) as { items: Record<string, unknown>[] };
}
