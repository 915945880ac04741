import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleScene, hasChromium, signIn, startConsoleScene, tabTo } from '../support/browser.ts';
import { until } from '../support/time.ts';

// The demo has a discovery service that is down. Deliveries are parked after seconds here, not after a day.

const fewSeconds = { RETRY_HOURS: '0.002' };

describe.skipIf(!hasChromium)('parked deliveries on the page (needs Chromium)', () => {
  let scene: ConsoleScene;
  let receiver: string;
  beforeAll(async () => {
    scene = await startConsoleScene(fewSeconds);
    receiver = await until(() => findParked(scene), 'a parked delivery');
  });
  afterAll(() => scene?.close());

  it('are tried again when the operator replays one', async () => {
    const { page, hosts, errors } = await scene.visit(pathOf(receiver));
    await page
      .getByRole('button', { name: /^Replay push-/ })
      .first()
      .click();
    await signIn(page, scene.token);
    await page.getByText(/will be tried again/).waitFor();
    expect([...hosts]).toEqual([new URL(scene.url).host]);
    expect(errors).toEqual([]);
    const { items } = await read(scene, '/api/audit');
    expect(items[0]).toMatchObject({ action: expect.stringContaining('replay') });
  });

  it('are tried again by keyboard alone', async () => {
    await until(() => findParked(scene), 'a parked delivery');
    const { page } = await scene.visit(pathOf(receiver));
    await page
      .getByRole('button', { name: /^Replay push-/ })
      .first()
      .waitFor();
    await tabTo(page, /^Replay push-/);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type(scene.token);
    await page.keyboard.press('Enter');
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
