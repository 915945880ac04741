import { beforeAll, describe, expect, it } from 'vitest';
import { signRequest } from '../../src/protocol/request-signature.ts';
import { requireSigningKey } from '../../src/registry/key-files.ts';
import { findSeriousViolations, tabTo, useConsole } from '../support/pages/browser.ts';
import { hasChromium } from '../support/pages/chromium.ts';

const body = '{"context":{"action":"discover"},"message":{"intent":{"textSearch":"charger"}}}';
const changed = body.replace('charger', 'changer');
const headerLabel = 'Authorization header, or all headers';
const bodyLabel = 'Body, exactly as it was sent';

describe.skipIf(!hasChromium)('debugging a signature on the page of npm start (needs Chromium)', () => {
  const scene = useConsole();
  let header: string;
  beforeAll(() => {
    const key = requireSigningKey(scene.dataDir, { id: 'consumer.signpost.test' });
    header = signRequest(key, Buffer.from(body), { now: new Date() });
  });

  it('names the body as the one thing that differs where one byte of it was changed', async () => {
    const page = await scene.visit('#/debug');
    await page.getByLabel(headerLabel).fill(header);
    await page.getByLabel(bodyLabel).fill(changed);
    await page.getByRole('button', { name: 'Check the signature' }).click();
    await page.getByText('The signature is not valid.').waitFor();
    expect(await page.locator('.signature-verdict').textContent()).toMatch(/body|digest/i);
    expect(await findSeriousViolations(page)).toEqual([]);

    await page.getByLabel(bodyLabel).fill(body);
    await page.getByRole('button', { name: 'Check the signature' }).click();
    await page.getByText('The signature is valid.').waitFor();
  });

  it('does the same by keyboard alone', async () => {
    const page = await scene.visit('#/debug');
    await tabTo(page, headerLabel);
    await page.keyboard.insertText(header);
    await tabTo(page, bodyLabel);
    await page.keyboard.insertText(changed);
    await tabTo(page, 'Check the signature');
    await page.keyboard.press('Enter');
    await page.getByText('The signature is not valid.').waitFor();
    expect(await page.locator('.signature-verdict').textContent()).toMatch(/body|digest/i);

    await tabTo(page, bodyLabel, 'Shift+Tab');
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(body);
    await tabTo(page, 'Check the signature');
    await page.keyboard.press('Enter');
    await page.getByText('The signature is valid.').waitFor();
  });
});
