import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signRequest } from '../../src/protocol/request-signature.ts';
import { requireSigningKey } from '../../src/registry/key-files.ts';
import { type ConsoleScene, hasChromium, startConsoleScene, tabTo } from '../support/browser.ts';

const body = '{"context":{"action":"discover"},"message":{"intent":{"textSearch":"charger"}}}';

describe.skipIf(!hasChromium)('debugging a signature on the page (needs Chromium)', () => {
  let scene: ConsoleScene;
  let header: string;
  beforeAll(async () => {
    scene = await startConsoleScene();
    const key = requireSigningKey(scene.dataDir, { id: 'consumer.signpost.test' });
    header = signRequest(key, Buffer.from(body), { now: new Date() });
  });
  afterAll(() => scene?.close());

  it('names the body as the one thing that differs where one byte of it was changed', async () => {
    const { page, hosts, errors } = await scene.visit('#/debug');
    await page.getByLabel('Authorization header, or all headers').fill(header);
    await page.getByLabel('Body, exactly as it was sent').fill(body.replace('charger', 'changer'));
    await page.getByRole('button', { name: 'Check the signature' }).click();
    await page.getByText('The signature does not hold.').waitFor();
    expect(await page.locator('.signature-verdict').textContent()).toMatch(/body|digest/i);

    await page.getByLabel('Body, exactly as it was sent').fill(body);
    await page.getByRole('button', { name: 'Check the signature' }).click();
    await page.getByText('The signature holds.').waitFor();
    expect([...hosts]).toEqual([new URL(scene.url).host]);
    expect(errors).toEqual([]);
  });

  it('does the same by keyboard alone', async () => {
    const { page } = await scene.visit('#/debug');
    await tabTo(page, 'Authorization header, or all headers');
    await page.keyboard.insertText(header);
    await page.keyboard.press('Tab');
    await page.keyboard.insertText(`${body}\n`);
    await tabTo(page, 'Check the signature');
    await page.keyboard.press('Enter');
    await page.getByText('The signature does not hold.').waitFor();
  });
});
