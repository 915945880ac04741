import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addressOf, apiDocuments } from '../../site/pages.ts';
import { freePort } from '../support/free-port.ts';
import { hasChromium, launchChromium } from '../support/pages/chromium.ts';
import { patienceMs } from '../support/patience.ts';
import { startCommand, type UpProcess } from '../support/processes/up-process.ts';
import { documents } from './blocks.ts';

// The site as `npm run docs` builds it, which fails if a link of a document is broken; then the built site in a browser.

const built = join('site', 'dist');

beforeAll(async () => {
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)('npm', ['run', 'docs'], { env, maxBuffer: 2 ** 26 });
});

describe('the built site', () => {
  const files = () =>
    readdirSync(built, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => posix.relative(built, posix.join(parentPath, name)));
  const pages = () => files().filter((name) => name.endsWith('.html'));
  const read = (name: string) => readFileSync(join(built, name), 'utf8');

  it('has a page for every document, and one for every API document', () => {
    const expected = documents.map((document) => addressOf(document).replace(/\.md$/, '.html'));
    expect(pages()).toEqual(expect.arrayContaining(expected));
    expect(pages()).toEqual(
      expect.arrayContaining(Object.keys(apiDocuments).map((name) => `docs/api/${name}.html`)),
    );
  });

  it('has links between pages, to headings and to files that are all there', () => {
    const broken = pages().flatMap((page) => {
      const links = [...read(page).matchAll(/<a\b[^>]*?\shref="([^"]+)"/g)].map(([, href = '']) => href);
      return links.filter((href) => isBroken(page, href)).map((href) => `${page}: ${href}`);
    });
    expect(broken).toEqual([]);
  });

  function isBroken(page: string, href: string): boolean {
    if (/^[a-z]+:/.test(href)) return false;
    const [path = '', fragment] = decodeURI(href.replaceAll('&amp;', '&')).split('#');
    const target = path.startsWith('/') ? path.slice(1) : posix.join(posix.dirname(page), path);
    const file = path === '' ? page : target.endsWith('/') || target === '' ? `${target}index.html` : target;
    if (!existsSync(join(built, file)) || !statSync(join(built, file)).isFile()) return true;
    return fragment !== undefined && fragment !== '' && !read(file).includes(`id="${fragment}"`);
  }

  it('names nothing in pages and style sheets that would be loaded from elsewhere', () => {
    const loads =
      /<(?:script|img|link|iframe|source)\b[^>]*?(?:src|href)="(?:https?:)?\/\/|url\(["']?(?:https?:)?\/\/|@import/g;
    const foreign = files()
      .filter((name) => /\.(html|css)$/.test(name))
      .filter((name) => read(name).match(loads));
    expect(foreign).toEqual([]);
  });
});

describe.skipIf(!hasChromium)('the site in a browser (needs Chromium)', () => {
  let server: UpProcess;
  let browser: Browser;
  let url: string;

  beforeAll(async () => {
    const port = String(await freePort());
    url = `http://localhost:${port}`;
    const command = join('site', 'node_modules', 'vitepress', 'bin', 'vitepress.js');
    server = startCommand(['preview', 'site', '--port', port], '', {}, { command, cwd: '.' });
    await server.saying('served at');
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    server?.signal('SIGTERM');
    await server?.ended;
  });

  /** Throws at the end if a script failed or something was requested from another host. */
  async function visit(
    path: string,
    look: (page: Page) => Promise<void>,
    options: BrowserContextOptions = {},
  ): Promise<void> {
    const page = await browser.newPage(options);
    page.setDefaultTimeout(patienceMs);
    const hosts = new Set<string>();
    const errors: string[] = [];
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    page.on('pageerror', ({ message }) => errors.push(message));
    await page.goto(`${url}/${path}`);
    await look(page);
    await page.close();
    expect([...hosts]).toEqual([new URL(url).host]);
    expect(errors).toEqual([]);
  }

  it('finds words of a guide by its search', () =>
    visit('docs/publishing.html', async (page) => {
      await page.getByRole('button', { name: 'Search' }).click();
      await page.locator('.VPLocalSearchBox input').fill('trigger token');
      await page.locator('.VPLocalSearchBox a[href*="self-hosting"]').first().click();
      await page.getByRole('heading', { level: 1, name: 'Publish from your own storage' }).waitFor();
    }));

  it('leads from the first page to a guide, and from a page to a file', () =>
    visit('', async (page) => {
      await page.getByRole('main').getByRole('link', { name: 'Query as an app' }).click();
      await page.getByRole('heading', { level: 1, name: 'Query as an app' }).waitFor();
      await page.goto(`${url}/vectors/`);
      await page.getByRole('link', { name: 'keys.json' }).click();
      await page.getByText('"subscriberId"').first().waitFor();
    }));

  it('shows the API with its examples', () =>
    visit('docs/api/catalog.html', async (page) => {
      const publish = page.locator('#operations-Requests-publish');
      await publish.locator('.opblock-summary-control').click();
      await publish.getByText('voltpath-indiranagar').first().waitFor();
    }));

  it('fits a phone', () =>
    visit(
      'docs/publishing.html',
      async (page) => {
        const widths = '[document.documentElement.scrollWidth, window.innerWidth]';
        const [width = 0, room = 0] = await page.evaluate<number[]>(widths);
        expect(width).toBeLessThanOrEqual(room);
      },
      { viewport: { width: 390, height: 844 } },
    ));
});
