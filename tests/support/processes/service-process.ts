import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TestNetwork } from '../network/network.ts';
import { endWithUs } from './child-process.ts';

// The service as it is run: `signpost serve` in a separate process, from the built files, that can be killed at any moment.

const ownCommandLine = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

export interface ServiceProcess {
  url: string;
  /** Its log so far. */
  log: string[];
  /** kill -9 */
  kill(): Promise<void>;
  /** Stops the process until it is continued, like a machine that hangs. */
  halt(): void;
  goOn(): void;
  /** Stops it as a deployment would; throws unless it ends without force and without an error. */
  stop(): Promise<void>;
}

/** The catalog service of a network whose process runs only the registry (ROLES=registry). */
export function startCatalogProcess(
  { config, databaseUrl }: TestNetwork,
  settings: Record<string, string> = {},
): Promise<ServiceProcess> {
  return startServiceProcess('catalog', {
    DATABASE_URL: databaseUrl,
    DATA_DIR: config.DATA_DIR,
    CATALOG_ID: config.identities.catalog.id,
    CATALOG_PORT: String(config.CATALOG_PORT),
    REGISTRY_URL: config.registryUrl,
    ALLOW_PRIVATE_ADDRESSES: 'true',
    RETRY_BASE_MS: '50',
    RATE_LIMIT_PER_SECOND: '0',
    TIME_LIMIT_MS_PER_SECOND: '0',
    BYTE_LIMIT_PER_SECOND: '0',
    // The tests must not be refused because the machine is busy.
    OVERLOAD_EVENT_LOOP_MS: '60000',
    ...settings,
  });
}

/** Resolves once the role is ready. */
export async function startServiceProcess(
  role: string,
  settings: Record<string, string>,
  commandLine = ownCommandLine,
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [commandLine, 'serve', '--roles', role], {
    // So that no .env file is read.
    cwd: settings.DATA_DIR,
    env: { PATH: process.env.PATH, LOG_LEVEL: 'warn', LOG_FORMAT: 'json', OPERATIONS_PORT: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithUs(child);
  const log: string[] = [];
  createInterface(child.stderr).on('line', (line) => log.push(line));
  const exited = once(child, 'exit');
  const url = await Promise.race([addressOf(child), exited.then(() => undefined)]);
  if (url === undefined) throw new Error(`the service did not start:\n${log.join('\n')}`);
  return {
    url,
    log,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    halt: () => void child.kill('SIGSTOP'),
    goOn: () => void child.kill('SIGCONT'),
    async stop() {
      child.kill('SIGTERM');
      await exited;
      if (child.exitCode !== 0) throw new Error(`the service ended badly:\n${log.join('\n')}`);
    },
  };
}

/** The process prints one line per role: its name and address. */
async function addressOf(child: ChildProcess & { stdout: NodeJS.ReadableStream }): Promise<string> {
  const [line]: string[] = await once(createInterface(child.stdout), 'line');
  return line?.split(/\s+/)[1] ?? '';
}
