import axe, { type AxeResults } from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';
import { patienceMs } from '../patience.ts';
import type { StartedConsole } from '../processes/console-process.ts';
import { launchChromium } from './chromium.ts';

// The console's page as people use it: Signpost in a separate process, and the Chromium of the system.

export interface ConsoleScene extends StartedConsole {
  /**
   * Opens a new window without a session. At the end of the test it is closed, and must have sent no request to another host, met no error in a
   * script, and broken no rule of the Content-Security-Policy.
   * @param path below the console's address, or a whole address
   */
  visit(path: string, options?: BrowserContextOptions): Promise<Page>;
}

export const phone = { viewport: { width: 390, height: 844 } };
const desktop = { viewport: { width: 1280, height: 850 } };

/** @param start by default the `npm start` of the whole run */
export function useConsole(start: () => Promise<Started> = findNpmStart): ConsoleScene {
  const windows: Window[] = [];
  let browser: Browser | undefined;
  let close: Started['close'];
  const scene = {
    async visit(path, options) {
      if (!browser) throw new Error('no browser is started yet');
      const url = new URL(path, `${scene.url}/`);
      const window = await openWindow(browser, url, options);
      windows.push(window);
      await window.page.goto(url.href);
      await window.page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
      return window.page;
    },
  } as ConsoleScene;
  beforeAll(async () => {
    const running = await start();
    close = running.close;
    Object.assign(scene, running.started);
    browser = await launchChromium();
  });
  afterEach(async () => {
    const seen = windows.splice(0);
    await Promise.all(seen.map(({ context }) => context.close()));
    expect(seen.flatMap(({ strayRequests }) => strayRequests)).toEqual([]);
    expect(seen.flatMap(({ errors }) => errors)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await close?.();
  });
  return scene;
}

interface Started {
  started: StartedConsole;
  close?(): Promise<void>;
}

async function findNpmStart(): Promise<Started> {
  const started = inject('npmStart');
  if (!started) throw new Error('these tests share one npm start: npm run test:browser [FILE]');
  return { started };
}

interface Window {
  context: BrowserContext;
  page: Page;
  /** Requests to hosts other than the page's. */
  strayRequests: string[];
  /** Errors of the page's scripts, and violations of the Content-Security-Policy. */
  errors: string[];
}

async function openWindow(browser: Browser, { host }: URL, options?: BrowserContextOptions): Promise<Window> {
  const context = await browser.newContext({ ...desktop, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  const window: Window = { context, page, strayRequests: [], errors: [] };
  context.on('request', (request) => {
    const { protocol, host: asked } = new URL(request.url());
    // Images inside the page need no request.
    if (protocol !== 'data:' && asked !== host) window.strayRequests.push(request.url());
  });
  page.on('websocket', (socket) => window.strayRequests.push(socket.url()));
  page.on('pageerror', ({ message }) => window.errors.push(message));
  page.on('console', (line) => {
    if (line.text().includes('Content Security Policy')) window.errors.push(line.text());
  });
  return window;
}

/** axe-core's findings that would stop people from using the page, one line each. */
export async function findSeriousViolations(page: Page): Promise<string[]> {
  // Not as a script of the page, because its Content-Security-Policy would refuse it.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')}: ${failureSummary}`),
    );
}

/** Types the token into the dialog that a change opened. */
export async function signIn(page: Page, token: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Sign in as the operator' });
  await dialog.getByLabel('Operator token').fill(token);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'hidden' });
}

/** The same by keyboard only: the focus is already in the dialog. */
export async function signInByKeyboard(page: Page, token: string): Promise<void> {
  await page.getByRole('dialog', { name: 'Sign in as the operator' }).waitFor();
  await page.keyboard.insertText(token);
  await page.keyboard.press('Enter');
}

/** Presses Tab, or Shift+Tab, until the focus is on a control with this name, without clicks. */
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
  // After the last control, the focus leaves the page: the text of the whole body is not a name.
  if (!element || element === document.body) return '';
  const label = element.labels?.[0];
  const own = label?.querySelector('span') ?? label;
  return (element.getAttribute('aria-label') ?? own?.textContent ?? element.textContent ?? '').trim();
})()`;
