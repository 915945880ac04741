import type { Config } from '../config.ts';
import { createLogger } from '../logger.ts';
import { type Process, startProcess } from '../main.ts';
import type { Database } from '../storage/database.ts';
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
  const stop = new Promise<string>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => resolve(signal));
  });
  const logger = createLogger({ level: config.LOG_LEVEL, format: config.LOG_FORMAT });
  const running = await startProcess(config, { logger, prepare: hooks.prepare }).catch(explain);
  for (const { role, url } of running.roles) context.print(`${role.padEnd(10)} ${url}`);
  if (running.operationsUrl) context.print(`operations ${running.operationsUrl}`);
  hooks.started?.();

  await stop;
  context.note('signpost: stopping …');
  const impatient = () => process.kill(process.pid, 'SIGKILL');
  process.once('SIGINT', impatient);
  await running.close();
  process.off('SIGINT', impatient);
  context.note('signpost: stopped.');
}

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
