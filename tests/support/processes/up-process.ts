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

// The command line as a person starts it, from the built files: `signpost up` and `signpost serve` in a process of their own.

export const commandLine = join(builtFiles, 'cli', 'main.js');

export interface UpProcess {
  /** Everything that it printed so far. */
  said(): string;
  /** Waits until it prints this; returns everything that it printed. */
  saying(text: string, timeoutMs?: number): Promise<string>;
  signal(signal: NodeJS.Signals): void;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** A directory for its data, which is removed at the end. */
export async function makeDataDir(): Promise<{ dataDir: string; remove(): Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'signpost-up-'));
  // Started by root, PostgreSQL runs as another user, who must be able to get there.
  await chmod(dataDir, 0o755);
  return { dataDir, remove: () => rm(dataDir, { recursive: true, force: true }) };
}

/** A free port for each setting that names one. */
export async function freePorts(): Promise<Record<string, string>> {
  const names = Object.keys(allSettings).filter((name) => name.endsWith('_PORT'));
  const ports = await Promise.all(names.map(freePort));
  return Object.fromEntries(names.map((name, index) => [name, `${ports[index]}`]));
}

/** Everything in one process, with a database of its own. */
export function startUp(
  dataDir: string,
  settings: Record<string, string>,
  place: StartPlace = {},
): UpProcess {
  return startCommand(['up'], dataDir, settings, place);
}

interface StartPlace {
  /** The command line to start, in case of another than the built one. */
  command?: string;
  /** Away from any .env file. */
  cwd?: string;
  /** On a terminal, which the program `script` makes. */
  onTerminal?: boolean;
}

/** Any command that stays until it is told to stop. */
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

/** `npm start`, as the README has it. npm and its shell do not pass signals on, so all processes of the group get them. */
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
