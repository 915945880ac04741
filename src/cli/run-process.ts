import cluster from 'node:cluster';
import { once } from 'node:events';
import { type Config, isSigningRole } from '../config.ts';
import { operatorTokenFile } from '../console/operator-token.ts';
import { hasCode } from '../error-code.ts';
import { createLogger, type Logger } from '../logger.ts';
import { type Process, type StartOptions, startProcess } from '../main.ts';
import { settings } from '../setting-table.ts';
import type { Database } from '../storage/database.ts';
import { abandonEmbeddedPostgres } from '../storage/embedded/postgres.ts';
import { startWorkers } from '../workers/supervisor.ts';
import { WorkerFailed } from '../workers/worker-pool.ts';
import { type CommandContext, CommandError, oneLine, reasonOf } from './command.ts';
import { sameSignalMs } from './interrupt.ts';

/** Starts the roles, in this process or in WORKERS, prints one line for each, and runs until stopped. A second Ctrl-C stops at once. */
export async function runProcess<T extends { close(): Promise<void> }>(
  context: CommandContext,
  config: Config,
  options: RunOptions<T> = {},
): Promise<void> {
  const { LOG_LEVEL: level, LOG_FORMAT: format, demo } = config;
  const logger = createLogger({ level, format, quietAbout: demo?.quietAbout });
  const stop = listenForStop(context, () => killOurselves(config));
  const running = await startUntil(stop.signal, config, { logger, prepare: options.prepare });
  if (running) {
    let beside: T | undefined;
    try {
      beside = await options.alongside?.(running, logger).catch((error) => {
        throw explainStart(error, config);
      });
      await options.settle?.(running, stop.signal, beside);
      if (context.json) context.print(renderStarted(running));
      else {
        printAddresses(context, running, config, options);
        options.started?.();
      }
      if (!stop.signal.aborted) await once(stop.signal, 'abort');
    } finally {
      await beside?.close();
      await running.close().catch((error) => {
        throw new CommandError(`Did not stop cleanly: ${lineOf(error)}`, error);
      });
    }
  }
  stop.close();
  context.note('signpost: stopped.');
}

interface RunOptions<T extends { close(): Promise<void> }> {
  prepare?: (database: Database) => Promise<void>;
  /** Starts an additional part, which is closed before the roles. */
  alongside?: (running: Process, logger: Logger) => Promise<T | undefined>;
  /** Work that must end before anything is printed, so that the startup log does not scroll the output away. */
  settle?: (running: Process, signal: AbortSignal, beside: T | undefined) => Promise<void>;
  started?: () => void;
  showPublic?: boolean;
}

/** On one line, because a log may follow. Without a new operator token, which is in DATA_DIR. */
function renderStarted({ roles, operationsUrl }: Pick<Process, 'roles' | 'operationsUrl'>): string {
  const told = roles.map(({ role, url, listensOn, triggerUrl }) => ({ role, url, listensOn, triggerUrl }));
  return JSON.stringify({ roles: told, operationsUrl });
}

function printAddresses(
  context: CommandContext,
  { roles, operationsUrl }: Process,
  config: Config,
  { showPublic = false }: { showPublic?: boolean },
): void {
  const print = (name: string, url: string) => context.print(`${name.padEnd(10)} ${url}`);
  for (const { role, url, listensOn, triggerUrl, newToken } of roles) {
    print(role, showPublic && isSigningRole(role) ? `${listensOn}  public address ${url}` : url);
    if (triggerUrl) print('trigger', triggerUrl);
    if (newToken) {
      const shown = context.isTerminal ? `${newToken}  for changes at the console; ` : '';
      print('token', `${shown}kept in ${operatorTokenFile(config)}`);
    }
  }
  if (operationsUrl) print('operations', operationsUrl);
}

/** Undefined if the process was stopped before it had started. */
async function startUntil(signal: AbortSignal, config: Config, options: StartOptions) {
  try {
    const start = config.WORKERS > 1 ? startWorkers : startProcess;
    return await start(config, { ...options, signal });
  } catch (error) {
    if (signal.aborted && error === signal.reason) return undefined;
    options.logger.debug({ err: error }, 'the start failed');
    throw explainStart(error, config);
  }
}

export function explainStart(error: unknown, config: Config): CommandError {
  if (error instanceof CommandError) return error;
  if (error instanceof WorkerFailed) return new CommandError(error.message, error);
  return new CommandError(explainListening(error, config) ?? `Cannot start: ${lineOf(error)}`, error);
}

function explainListening(error: unknown, config: Config): string | undefined {
  if (!hasCode(error, ...Object.keys(listeningProblems))) return undefined;
  const { code = '', syscall = '', address, hostname, port } = error as ListeningError;
  // The only names that a start resolves directly, with unwrapped errors, are those of the addresses to listen on.
  if (!['listen', 'bind', 'getaddrinfo'].includes(syscall)) return undefined;
  const place = port === undefined ? (address ?? hostname) : `${address}:${port}`;
  return `Cannot listen on ${place}: ${listeningProblems[code]?.(portSetting(config, port))}`;
}

type ListeningError = NodeJS.ErrnoException & { address?: string; hostname?: string; port?: number };

const noSuchAddress = () => 'this machine has no such address. Set another HOST (see .env.example).';
const listeningProblems: Record<string, (setting: string) => string> = {
  EADDRINUSE: (setting) => `another program listens there. Stop it, or set another ${setting}.`,
  EACCES: (setting) => `this user has no permission. Set another ${setting}, of 1024 or more.`,
  EADDRNOTAVAIL: noSuchAddress,
  ENOTFOUND: noSuchAddress,
};

function portSetting(config: Config, port: number | undefined): string {
  const names = Object.keys(settings) as (keyof typeof settings)[];
  return names.find((name) => name.endsWith('_PORT') && config[name] === port) ?? 'port (see .env.example)';
}

/** An error about several addresses has no message of its own. */
function lineOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(lineOf).join('; ');
  return oneLine(reasonOf(error));
}

/** Prints a note at once, also during the start, so that the user knows that Ctrl-C worked. */
function listenForStop(context: CommandContext, impatient: () => void) {
  const stop = new AbortController();
  let cameAt = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    if (!stop.signal.aborted) {
      cameAt = performance.now();
      context.note('signpost: stopping …');
      stop.abort();
    } else if (signal === 'SIGINT' && performance.now() - cameAt > sameSignalMs) impatient();
  };
  for (const signal of stopSignals) process.on(signal, onSignal);
  return {
    signal: stop.signal,
    close() {
      for (const signal of stopSignals) process.off(signal, onSignal);
    },
  };
}

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Finishes nothing and releases nothing, but leaves no server behind. */
function killOurselves(config: Config): void {
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
  const die = () => process.kill(process.pid, 'SIGKILL');
  setTimeout(die, dieAfterMs);
  if (config.DATABASE_URL === undefined) void abandonEmbeddedPostgres(config.DATA_DIR).then(die, die);
  else die();
}

const dieAfterMs = 2_000;
