import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endWithUs } from '../support/processes/child-process.ts';

// Processes whose log, memory and end the suite watches: roles as `signpost serve` runs them, and hosts, which take orders on their channel.

const commandLine = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const reportMemory = new URL('./report-memory.mjs', import.meta.url).href;

export interface WatchedProcess {
  name: string;
  /** New lines of its log since the last call. */
  takeLog(): string[];
  isRunning(): boolean;
  /** Exit code or signal, and the last lines of its log, once it has ended. */
  howEnded(): Promise<string>;
  memory(): Promise<Memory>;
  stop(): Promise<void>;
}

/** In MB. */
export interface Memory {
  /** After garbage collection. */
  heap: number;
  /** The highest resident set since the last report. */
  peak: number;
}

/** A process that answers questions, several at once. */
export interface Host extends WatchedProcess {
  ask(question: object): Promise<unknown>;
}

export async function startRoles(roles: string, settings: Record<string, string>): Promise<WatchedProcess> {
  return startCommand(roles, ['serve', '--json', '--roles', roles], { OPERATIONS_PORT: '0', ...settings });
}

/** A command that runs until it is stopped. It counts as started after its first output. */
export async function startCommand(
  name: string,
  args: readonly string[],
  settings: Record<string, string>,
): Promise<WatchedProcess> {
  const child = start([commandLine, ...args], settings);
  const watched = watch(name, child);
  const said = [child.stdout, child.stderr].flatMap((stream) =>
    stream ? [once(createInterface(stream), 'line')] : [],
  );
  await orEnd(Promise.race(said), watched, child);
  return watched;
}

/** @param script beside this file; it says `ready` on its channel */
export async function startHost(
  name: string,
  script: string,
  settings: Record<string, string>,
): Promise<Host> {
  const child = start([fileURLToPath(new URL(script, import.meta.url))], settings);
  const watched = watch(name, child);
  await orEnd(once(child, 'message'), watched, child);
  return { ...watched, ask: createAsker(watched, child) };
}

function start(args: readonly string[], settings: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, ['--expose-gc', '--import', reportMemory, ...args], {
    cwd: settings.DATA_DIR, // so that no .env file is read
    env: { PATH: process.env.PATH, LOG_LEVEL: 'warn', LOG_FORMAT: 'json', ...settings },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  endWithUs(child);
  return child;
}

const shownLines = 15;

function watch(name: string, child: ChildProcess): WatchedProcess {
  let log: string[] = [];
  if (child.stderr) createInterface(child.stderr).on('line', (line) => log.push(line));
  child.stdout?.resume();
  const exited = once(child, 'exit');
  // After all of its output.
  const closed = once(child, 'close');
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const howEnded = async () => {
    await closed;
    return [child.exitCode ?? child.signalCode, ...log.slice(-shownLines)].join('\n');
  };
  return {
    ...{ name, isRunning, howEnded },
    takeLog() {
      const taken = log;
      log = [];
      return taken;
    },
    async memory() {
      child.send({ memory: true });
      const { heapUsed, peak } = await Promise.race([memoryReport(child), exited.then(() => nothing)]);
      const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20);
      return { heap: megabytes(heapUsed), peak: megabytes(peak) };
    },
    async stop() {
      if (isRunning()) child.kill('SIGTERM');
      await exited;
      if (child.exitCode !== 0) throw new Error(`${name} ended with ${await howEnded()}`);
    },
  };
}

/** In bytes; report-memory.mjs sends it. */
interface MemoryReport {
  heapUsed: number;
  peak: number;
}

const nothing: MemoryReport = { heapUsed: 0, peak: 0 };

function memoryReport(child: ChildProcess): Promise<MemoryReport> {
  return new Promise((resolve) => {
    const listen = ({ memory }: { memory?: MemoryReport }) => {
      if (!memory) return;
      child.off('message', listen);
      resolve(memory);
    };
    child.on('message', listen);
  });
}

async function orEnd(started: Promise<unknown>, watched: WatchedProcess, child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit').then(() => false);
  if (!(await Promise.race([started.then(() => true), ended])))
    throw new Error(`${watched.name} did not start: ${await watched.howEnded()}`);
}

function createAsker({ name }: WatchedProcess, child: ChildProcess): Host['ask'] {
  const waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>();
  let asked = 0;
  child.on('message', ({ question, answer }: { question?: number; answer: unknown }) => {
    if (question === undefined) return;
    waiting.get(question)?.resolve(answer);
    waiting.delete(question);
  });
  child.once('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error(`${name} has ended`));
  });
  return (question) =>
    new Promise((resolve, reject) => {
      asked += 1;
      waiting.set(asked, { resolve, reject });
      child.send({ question: asked, ...question }, (error) => error && reject(error));
    });
}
