import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endWithUs } from '../support/child-process.ts';

// Roles as `signpost serve` runs them, in a process of their own whose log and memory the suite watches.

const commandLine = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const reportMemory = new URL('./report-memory.mjs', import.meta.url).href;

export interface RoleProcess {
  roles: string;
  /** Lines of its log that it has not been asked for yet. */
  takeLog(): string[];
  isRunning(): boolean;
  /** With its garbage collected, in MB. */
  memory(): Promise<Memory>;
  stop(): Promise<void>;
}

export interface Memory {
  rss: number;
  heap: number;
}

export async function startRoles(roles: string, settings: Record<string, string>): Promise<RoleProcess> {
  const child = spawn(
    process.execPath,
    ['--expose-gc', '--import', reportMemory, commandLine, 'serve', '--json', '--roles', roles],
    {
      cwd: settings.DATA_DIR, // away from any .env file
      env: {
        PATH: process.env.PATH,
        LOG_LEVEL: 'warn',
        LOG_FORMAT: 'json',
        OPERATIONS_PORT: '0',
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  );
  endWithUs(child);
  let log: string[] = [];
  if (child.stderr) createInterface(child.stderr).on('line', (line) => log.push(line));
  const exited = once(child, 'exit');
  const started = child.stdout ? once(createInterface(child.stdout), 'line') : Promise.resolve([]);
  if ((await Promise.race([started, exited.then(() => undefined)])) === undefined)
    throw new Error(`${roles} did not start:\n${log.join('\n')}`);
  return {
    roles,
    takeLog() {
      const taken = log;
      log = [];
      return taken;
    },
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async memory() {
      child.send('memory');
      const [{ rss, heapUsed }] = await once(child, 'message');
      const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20);
      return { rss: megabytes(rss), heap: megabytes(heapUsed) };
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
      if (child.exitCode !== 0) throw new Error(`${roles} ended with ${child.exitCode ?? child.signalCode}`);
    },
  };
}
