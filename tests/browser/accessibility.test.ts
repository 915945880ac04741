import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { findSeriousViolations, phone, useConsole } from '../support/pages/browser.ts';
import { hasChromium } from '../support/pages/chromium.ts';

// axe-core on every page and every tab of the console, with forms filled in and details open, and on the pages of the other roles.

interface View {
  /** Below the console's address, or the setting with the port of another role. */
  at: string;
  open?(page: Page): Promise<unknown>;
}

const tab = (name: string) => (page: Page) => page.getByRole('tab', { name }).click();
const firstResult = (page: Page) => page.getByRole('list', { name: 'Results' }).getByRole('button').first();
const anyResource = 'voltpath:MG-1';

const views: Record<string, View> = {
  'the list of all results': { at: '#/find' },
  'a result with its offers, and the filters': {
    at: '#/find?text=charger',
    async open(page) {
      await page.getByText('Filters').click();
      await firstResult(page).click();
      await page.getByText('Offers', { exact: true }).waitFor();
    },
  },
  'a search that finds nothing': { at: '#/find?text=charger&near=0,0&within=1000' },
  'the area by numbers': {
    at: '#/find?near=12.97,77.59&within=3000',
    open: (page) => page.getByRole('button', { name: 'Enter coordinates' }).click(),
  },
  'the explanation of a search': { at: '#/find?text=charger', open: tab('Explain') },
  'the request of a search': { at: '#/find?text=charger', open: tab('Request') },
  'the request of a search in Python': {
    at: '#/find?text=charger',
    async open(page) {
      await tab('Request')(page);
      await tab('Python')(page);
    },
  },
  'why a resource is not found': {
    at: '#/find?text=charger&near=0,0&within=1000',
    async open(page) {
      await tab('Why not…?')(page);
      await page.getByLabel('Id of the resource').fill(anyResource);
      await page.keyboard.press('Enter');
      await page.locator('.verdict').waitFor();
    },
  },
  'the start of Inspect': { at: '#/inspect' },
  'a node that holds': {
    at: '#/inspect?q=publisher.signpost.test',
    async open(page) {
      await page.locator('.chain li', { hasText: 'files' }).getByRole('button').click();
      await page.locator('.link-details').waitFor();
    },
  },
  'a node with a broken file': { at: '#/inspect?q=minchu.signpost.test' },
  'a catalog of the service': { at: '#/inspect?q=voltpath-hsr-layout' },
  'something unknown': { at: '#/inspect?q=nobody.example.org' },
  'an empty editor': { at: '#/publish' },
  'the faults of a catalog': {
    at: '#/publish',
    async open(page) {
      await page.getByLabel('Catalog as JSON').fill('{"id": 1}');
      await page.getByText(/^\d+ faults?$/).waitFor();
    },
  },
  'the form of a signature': { at: '#/debug' },
  'a signature that cannot be read': {
    at: '#/debug',
    async open(page) {
      await page.getByLabel('Authorization header, or all headers').fill('Signature nonsense');
      await page.getByRole('button', { name: 'Check the signature' }).click();
      await page.locator('.signature-verdict').waitFor();
    },
  },
  'the inbox with a message open': {
    at: '#/debug?tab=inbox',
    async open(page) {
      // The consumer of the demo asks half a minute after the start.
      await page.locator('.message-button').first().click();
      await page.locator('.message-details').waitFor();
    },
  },
  ...Object.fromEntries(
    ['participants', 'subscriptions', 'deliveries', 'nodes', 'log', 'catalogs', 'masters', 'audit'].map(
      (name) => [`${name} of the network`, { at: `#/network?tab=${name}` }],
    ),
  ),
  'the deliveries to a receiver': {
    at: '#/network?tab=deliveries',
    async open(page) {
      await page.getByRole('table', { name: 'receivers' }).getByRole('link').first().click();
      await page.getByRole('link', { name: 'All receivers' }).waitFor();
    },
  },
  'a catalog of the network with its document': {
    at: '#/network?tab=catalogs',
    async open(page) {
      await page.getByRole('table', { name: 'catalogs' }).getByRole('link').first().click();
      await page.getByText('Document', { exact: true }).click();
    },
  },
  'the health of the last hours': { at: '#/health' },
  'the health with chargers that two nodes publish': {
    at: '#/find',
    async open(page) {
      // The demo's nodes have none.
      const nodes = ['a.example/subscribers', 'b.example/subscribers'];
      const items = [{ nodes, what: '12 EVSE ids are published by both.', next: 'Ask both nodes.' }];
      await page.route('**/api/health/duplicates', (route) => route.fulfill({ json: { items } }));
      await page.evaluate("location.hash = '#/health'");
      const section = page.getByRole('region', { name: 'Chargers published twice' });
      await section.getByText('12 EVSE ids').waitFor();
      await section.getByRole('link', { name: /^b\.example/ }).waitFor();
    },
  },
  'the dialog to sign in': {
    at: '#/publish',
    async open(page) {
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  'the start page of the registry': { at: 'REGISTRY_PORT' },
  'the start page of the catalog service': { at: 'CATALOG_PORT' },
  'the start page of the discovery service': { at: 'DISCOVERY_PORT' },
  'the start page of the publisher': { at: 'PUBLISHER_PORT' },
  'the start page of the trigger': { at: 'PUBLISHER_TRIGGER_PORT' },
  'the API page': { at: 'docs?role=catalog' },
  'an operation of the API page': {
    at: 'docs?role=catalog',
    async open(page) {
      const publish = page.locator('#operations-Requests-publish');
      await publish.locator('.opblock-summary-control').click();
      await publish.getByText('voltpath-indiranagar').first().waitFor();
    },
  },
};

/** Both widths and both colour schemes, in one combination each, because they are independent. */
const looks = {
  'in light colours': { colorScheme: 'light' },
  'on a phone in dark colours': { colorScheme: 'dark', ...phone },
} as const;

describe.skipIf(!hasChromium)('a page of npm start (needs Chromium)', () => {
  const scene = useConsole();

  describe.each(Object.entries(looks))('%s', (_look, options) => {
    it.each(Object.entries(views))('lets everybody use %s', async (_name, { at, open }) => {
      const port = scene.settings[at];
      const page = await scene.visit(port === undefined ? at : `http://127.0.0.1:${port}/`, options);
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      await open?.(page);
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      expect(await findSeriousViolations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    });
  });
});
