import { describe, expect, it } from 'vitest';
import { useConsole } from '../support/pages/browser.ts';
import { hasChromium } from '../support/pages/chromium.ts';

describe.skipIf(!hasChromium)('the API page of npm start (needs Chromium)', () => {
  const scene = useConsole();

  it('shows requests with their examples, from this machine alone and without breaking its policy', async () => {
    // It opens with the catalog service, and shows the version of the product.
    const page = await scene.visit('docs');
    expect(await page.getByRole('heading', { level: 1 }).first().textContent()).toMatch(
      /^Signpost API \d+\.\d+/,
    );
    const publish = page.locator('#operations-Requests-publish');
    await publish.locator('.opblock-summary-control').click();
    await publish.getByText('voltpath-indiranagar').first().waitFor();
    await publish.getByText('Callbacks').click();
    await publish.getByText('catalog/on_publish').first().waitFor();
  });

  it('has the console sign and send what is tried, for the operator', async () => {
    const page = await scene.visit('docs?role=catalog');
    await page.context().request.post(`${scene.url}/api/session`, { data: { token: scene.token } });
    const list = page.locator('#operations-Requests-listSubscriptions');
    await list.locator('.opblock-summary-control').click();
    await list.getByRole('button', { name: 'Try it out' }).click();
    await list.getByRole('button', { name: 'Execute' }).click();
    const answer = list.locator('.live-responses-table');
    await answer.getByText('catalog/on_subscription').first().waitFor();
    expect(await answer.textContent()).toContain('keyId=');
    const curl = list.locator('.curl-command pre');
    expect(await curl.textContent()).toMatch(
      /^curl -X GET 'http:\S+\/catalog\/subscription.*authorization: Signature/,
    );
  });

  it('only shows, at a service itself, what would have to be signed', async () => {
    const page = await scene.visit(`http://127.0.0.1:${scene.settings.CATALOG_PORT}/docs`);
    const publish = page.locator('#operations-Requests-publish');
    await publish.locator('.opblock-summary-control').click();
    await publish.getByText('voltpath-indiranagar').first().waitFor();
    expect(await page.getByRole('button', { name: 'Try it out' }).count()).toBe(0);
  });
});
