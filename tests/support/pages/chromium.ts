import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const usualPlaces = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const executablePath = usualPlaces.find((path) => existsSync(path));
export const hasChromium = executablePath !== undefined;

/** The Chromium of the system. Root cannot start it with its sandbox; the pages are ours. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}
