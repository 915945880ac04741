import { once } from 'node:events';
import { createSharedLimits } from '../http/shared-limits.ts';
import { createLogger } from '../logger.ts';
import { type Process, startProcess } from '../main.ts';
import { createMetrics } from '../metrics.ts';
import { openSupervisorChannel, type SupervisorChannel, SupervisorGone } from '../workers/channel.ts';
import { CommandError, type Register } from './command.ts';
import { explainStart } from './run-process.ts';

/** One of WORKERS: the supervisor (`up` and `serve`) starts it, sends its settings and stops it. */
export const register: Register = (program, context) => {
  program.command('worker', { hidden: true }).action(async () => {
    const channel = openSupervisorChannel();
    if (!channel)
      throw new CommandError('"worker" is not a command for users: set WORKERS for "up" or "serve" instead.');
    // Ctrl-C and the end of a terminal reach all its processes. Only the supervisor handles them, and stops its workers.
    for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
    // Without its supervisor, nobody would end a hanging process.
    process.once('disconnect', () => setTimeout(() => process.exit(1), orphanMs).unref());
    const isGood = await runRoles(channel).catch(() => false);
    if (!isGood) context.setExitCode(1);
    channel.close();
  });
};

const orphanMs = 9_000;

/** Returns after it was stopped; false after a failure. */
async function runRoles(channel: SupervisorChannel): Promise<boolean> {
  const terminated = new AbortController();
  process.on('SIGTERM', () => terminated.abort());
  const signal = AbortSignal.any([channel.stop, terminated.signal]);
  const stopped = signal.aborted ? Promise.resolve() : once(signal, 'abort');
  const assignment = await Promise.race([channel.assignment, stopped.then(() => undefined)]);
  if (!assignment) return true;

  const { config, worker, operationsStart } = assignment;
  const { LOG_LEVEL: level, LOG_FORMAT: format, demo } = config;
  const logger = createLogger({ level, format, quietAbout: demo?.quietAbout }).child({ worker });
  const metrics = createMetrics({ renderAll: channel.renderAll });
  channel.offerMetrics(() => metrics.registry.getMetricsAsJSON());
  const shareLimit = createSharedLimits(channel.peers);
  let running: Process;
  try {
    const measuresDatabase = worker === 1;
    const options = { logger, signal, metrics, measuresDatabase, shareLimit, operationsStart };
    running = await startProcess(config, options);
  } catch (error) {
    if (signal.aborted && error === signal.reason) return true;
    logger.debug({ err: error }, 'the start failed');
    channel.failed(explainStart(error, config).message);
    return false;
  }
  channel.started({ roles: running.roles, operationsUrl: running.operationsUrl });
  await stopped;
  if (signal.reason instanceof SupervisorGone)
    logger.error('the supervisor has ended: this worker finishes what it has begun, and ends too');
  try {
    await running.close();
    return true;
  } catch (error) {
    logger.error({ err: error }, 'a worker did not end cleanly');
    return false;
  }
}
