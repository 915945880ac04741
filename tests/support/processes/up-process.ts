import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { settings as allSettings } from '../../../src/setting-table.ts';
import { freePort } from '../free-port.ts';
import { until } from '../time.ts';
import { endWithUs } from './child-process.ts';
import { builtFiles } from './embedded-process.ts';

// The command line as users start it, from the built files: `signpost up` and `signpost serve` in a separate process.

export const commandLine = join(builtFiles, 'cli', 'main.js');

export interface UpProcess {
  /** Everything that it has printed. */
  said(): string;
  /** Waits until it prints this; returns everything that it has printed. */
  saying(text: string, timeoutMs?: number): Promise<string>;
  signal(signal: NodeJS.Signals): void;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** A directory for its data. */
export async function makeDataDir(): Promise<{ dataDir: string; remove(): Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'signpost-up-'));
  // When started by root, PostgreSQL runs as another user, which needs access.
  await chmod(dataDir, 0o755);
  return { dataDir, remove: () => rm(dataDir, { recursive: true, force: true }) };
}

/** A free port for each port setting. */
export async function freePorts(): Promise<Record<string, string>> {
  const names = Object.keys(allSettings).filter((name) => name.endsWith('_PORT'));
  const ports = await Promise.all(names.map(freePort));
  return Object.fromEntries(names.map((name, index) => [name, `${ports[index]}`]));
}

/** Everything in one process, with a new database. */
export function startUp(
  dataDir: string,
  settings: Record<string, string>,
  place: StartPlace = {},
): UpProcess {
  return startCommand(['up'], dataDir, settings, place);
}

interface StartPlace {
  /** The command line to start, if not the built one. */
  command?: string;
  /** By default a directory without an .env file. */
  cwd?: string;
  /** On a terminal, made by the program `script`. */
  onTerminal?: boolean;
}

/** Any command that runs until it is stopped. */
export function startCommand(
  args: readonly string[],
  dataDir: string,
  settings: Record<string, string>,
  { command = commandLine, cwd = dataDir, onTerminal = false }: StartPlace = {},
): UpProcess {
  const typed = [process.execPath, command, ...args];
  const [program = '', ...given] = onTerminal ? ['script', '-qec', typed.join(' '), '/dev/null'] : typed;
  const child = spawn(program, given, {
    cwd,
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithUs(child);
  return watch(child, (signal) => child.kill(signal));
}

/** `npm start`, as in the README. npm and its shell do not pass signals on, so the whole process group gets them. */
export function startByNpm(dataDir: string, settings: Record<string, string>): UpProcess {
  const child = spawn('npm', ['start'], {
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const killGroup = (signal: NodeJS.Signals) => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, signal);
  };
  const kill = () => killGroup('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  return watch(child, killGroup);
}

function watch(
  child: ChildProcessByStdio<null, Readable, Readable>,
  signal: (signal: NodeJS.Signals) => void,
): UpProcess {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  return {
    said: () => text,
    async saying(wanted, timeoutMs = 60_000) {
      const isSaid = () => text.includes(wanted);
      await until(() => isSaid() || child.exitCode !== null, `"${wanted}"`, timeoutMs).catch(() => undefined);
      if (!isSaid()) throw new Error(`not "${wanted}", but:\n${text}`);
      return text;
    },
    signal,
    ended,
  };
}
