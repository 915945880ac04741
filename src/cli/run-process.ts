import type { Config } from '../config.ts';
import { createLogger, type Logger } from '../logger.ts';
import { type Process, startProcess } from '../main.ts';
import type { Database } from '../storage/database.ts';
import { abandonEmbeddedPostgres } from '../storage/embedded-postgres.ts';
import { type CommandContext, CommandError } from './command.ts';

/**
 * Starts the roles, prints one line for each, and stays until it is told to stop, or its terminal is closed; a second Ctrl-C does not
 * wait.
 */
export async function runProcess(
  context: CommandContext,
  config: Config,
  hooks: { prepare?: (database: Database) => Promise<void>; started?: () => void } = {},
): Promise<void> {
  const logger = createLogger({ level: config.LOG_LEVEL, format: config.LOG_FORMAT });
  const stop = stopSignal(context, () => killOurselves(config, logger));
  const starting = startProcess(config, { logger, prepare: hooks.prepare });
  void stop.coming.then(() => giveUpOn(starting, () => killOurselves(config, logger)));
  const running = await starting.catch(explain);
  if (!stop.came()) {
    for (const { role, url } of running.roles) context.print(`${role.padEnd(10)} ${url}`);
    if (running.operationsUrl) context.print(`operations ${running.operationsUrl}`);
    hooks.started?.();
  }
  await stop.coming;
  await running.close();
  stop.close();
  context.note('signpost: stopped.');
}

/** Answered at once, also in the midst of starting, so that nobody thinks that it was not heard. */
function stopSignal(context: CommandContext, impatient: () => void) {
  let cameAt: number | undefined;
  let onSignal: NodeJS.SignalsListener = () => undefined;
  const coming = new Promise<void>((resolve) => {
    onSignal = (signal) => {
      if (cameAt === undefined) {
        cameAt = performance.now();
        context.note('signpost: stopping …');
        resolve();
      } else if (signal === 'SIGINT' && performance.now() - cameAt > sameSignalMs) impatient();
    };
  });
  for (const signal of stopSignals) process.on(signal, onSignal);
  return {
    came: () => cameAt !== undefined,
    coming,
    close() {
      for (const signal of stopSignals) process.off(signal, onSignal);
    },
  };
}

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** One Ctrl-C comes from the terminal, and once more from npm, which passes it on. */
const sameSignalMs = 500;

/** A start that waits for somebody or something else does not keep a process alive that was told to stop. */
function giveUpOn(starting: Promise<unknown>, giveUp: () => void): void {
  const timer = setTimeout(giveUp, startPatienceMs);
  const clear = () => clearTimeout(timer);
  void starting.then(clear, clear);
}

const startPatienceMs = 10_000;

/** Nothing is finished or given back, but no server of ours is left behind. */
function killOurselves(config: Config, logger: Logger): void {
  const die = () => process.kill(process.pid, 'SIGKILL');
  setTimeout(die, dieAfterMs);
  if (config.DATABASE_URL === undefined) void abandonEmbeddedPostgres(config.DATA_DIR, logger).then(die, die);
  else die();
}

const dieAfterMs = 2_000;

function explain(error: unknown): Process {
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    const { address, port } = error as Error & { address?: string; port?: number };
    throw new CommandError(
      `Cannot listen on ${address}:${port}: another program does. Stop it, or set another port (see .env.example).`,
      error,
    );
  }
  if (error instanceof CommandError) throw error;
  throw new CommandError(`Cannot start: ${error instanceof Error ? error.message : error}`, error);
}
