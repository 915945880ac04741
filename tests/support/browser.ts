import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { patienceMs } from './patience.ts';
import { freePorts, makeDataDir, startUp, type UpProcess } from './up-process.ts';

// The console's page as a person has it: `signpost up` in a process of its own, and the Chromium of the system.

const usualPlaces = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const executablePath = usualPlaces.find((path) => existsSync(path));
export const hasChromium = executablePath !== undefined;

export interface Visit {
  page: Page;
  /** Hosts of everything that was requested. */
  hosts: Set<string>;
  /** Errors of the page's scripts, and what the Content-Security-Policy refused. */
  errors: string[];
}

export interface ConsoleScene {
  url: string;
  dataDir: string;
  settings: Record<string, string>;
  token: string;
  /** A window of its own: nobody is signed in. */
  visit(path: string, options?: BrowserContextOptions): Promise<Visit>;
  close(): Promise<void>;
}

/** @param start `signpost up` unless given */
export async function startConsoleScene(
  chosen: Record<string, string> = {},
  start: (dataDir: string, settings: Record<string, string>) => UpProcess = startUp,
): Promise<ConsoleScene> {
  const { dataDir, remove } = await makeDataDir();
  const settings = { ...(await freePorts()), ...chosen };
  const signpost = start(dataDir, settings);
  let browser: Browser | undefined;
  const close = async () => {
    await browser?.close();
    signpost.signal('SIGTERM');
    await signpost.ended;
    await remove();
  };
  try {
    await signpost.saying('Signpost is up', patienceMs);
    // Root may not start Chromium within its sandbox; the page is ours.
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    const token = (await readFile(join(dataDir, 'operator-token'), 'utf8')).trim();
    const url = `http://127.0.0.1:${settings.CONSOLE_PORT}`;
    const opened = browser;
    return { url, dataDir, settings, token, visit: (...args) => visit(opened, url, ...args), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function visit(
  browser: Browser,
  url: string,
  path: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 850 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  const hosts = new Set<string>();
  const errors: string[] = [];
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  page.on('pageerror', ({ message }) => errors.push(message));
  page.on('console', (line) => {
    if (line.text().includes('Content Security Policy')) errors.push(line.text());
  });
  await page.goto(`${url}/${path}`);
  await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
  return { page, hosts, errors };
}

/** What axe-core finds that keeps somebody from using the page, as one line each. */
export async function findSeriousViolations(page: Page): Promise<string[]> {
  // Not as a script of the page, which its Content-Security-Policy would refuse.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')}: ${failureSummary}`),
    );
}

/** Types the token into the dialog that a change has opened. */
export async function signIn(page: Page, token: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Sign in as the operator' });
  await dialog.getByLabel('Operator token').fill(token);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'hidden' });
}

/** Presses Tab, or Shift+Tab, until the focus is on a control of this name: nothing is clicked. */
export async function tabTo(
  page: Page,
  name: string | RegExp,
  key: 'Tab' | 'Shift+Tab' = 'Tab',
): Promise<void> {
  for (let presses = 0; presses < maxPresses; presses += 1) {
    await page.keyboard.press(key);
    const focused = await page.evaluate<string>(nameOfFocused);
    if (typeof name === 'string' ? focused === name : name.test(focused)) return;
  }
  throw new Error(`${key} does not lead to ${name}`);
}

const maxPresses = 120;

/** Label, aria-label or text of the focused element. A string, because it runs in the page. */
const nameOfFocused = `(() => {
  const element = document.activeElement;
  if (!element) return '';
  const label = element.labels?.[0];
  const own = label?.querySelector('span') ?? label;
  return (element.getAttribute('aria-label') ?? own?.textContent ?? element.textContent ?? '').trim();
})()`;
