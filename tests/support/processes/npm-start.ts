import type { TestProject } from 'vitest/node';
import { hasChromium } from '../pages/chromium.ts';
import { type StartedConsole, startConsoleProcess } from './console-process.ts';
import { startByNpm } from './up-process.ts';

// One `npm start` for all journeys through the console (tests/browser). The files run one after another, and each leaves the network as it found it.

declare module 'vitest' {
  interface ProvidedContext {
    npmStart: StartedConsole | undefined;
  }
}

/** One discovery service of the demo is down: deliveries to it are parked after seconds, not after a day. */
const settings = { RETRY_HOURS: '0.002' };

export default async function setUp(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!hasChromium) return undefined;
  const { started, close } = await startConsoleProcess(startByNpm, settings);
  project.provide('npmStart', started);
  return close;
}
