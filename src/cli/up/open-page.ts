import { spawn } from 'node:child_process';
import { type Config, ownConsoleUrl } from '../../config.ts';
import type { CommandContext } from '../command.ts';

/** On a terminal, Enter opens the page of the console in a browser. Returns what ends the offer. */
export function offerPage(context: CommandContext, config: Config): (() => void) | undefined {
  const url = ownConsoleUrl(config);
  if (url === undefined) return undefined;
  const end = context.whenEnter(() => openPage(url, context));
  if (end) context.print('Enter opens the page in a browser.');
  return end;
}

function openPage(url: string, context: CommandContext): void {
  const [command, ...args] = openers[process.platform] ?? usualOpener;
  const browser = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
  browser.on('error', () => context.note(`No browser could be started here. The page is at ${url}`));
  browser.unref();
}

type Opener = readonly [command: string, ...args: string[]];

const usualOpener: Opener = ['xdg-open'];
const openers: Partial<Record<NodeJS.Platform, Opener>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};
