import { DiscoverMessage } from '../../protocol/discover-messages.ts';
import { ProtocolError } from '../../protocol/errors.ts';
import { validator } from '../../protocol/validate.ts';
import type { LeftOut } from '../../rules/discover/page-answer.ts';
import { createSearch, type TraceStep, UnknownIndexVersion } from '../../search/port.ts';
import { silentLogger } from '../../silent-logger.ts';
import { createThreadPool } from '../../thread-pool.ts';
import { type CommandContext, CommandError, printResult, renderTable } from '../command.ts';
import { withDatabase } from '../database.ts';

export async function explain(
  message: DiscoverMessage,
  scope: { networkId?: string; schemaContext?: string[] },
  context: CommandContext,
): Promise<void> {
  await withDatabase(context, async (database, config) => {
    const logger = silentLogger();
    const threads = createThreadPool({ size: 1, logger });
    try {
      const question = { message: validator(DiscoverMessage)(message, ['message']), scope };
      const search = createSearch({ config, database, threads, now: () => new Date() });
      // Keeps newer processes from rebuilding the index for a version that this process cannot read.
      const announced = await search.announce({ logger });
      const explanation = await search.explain(question).finally(announced.close).finally(search.close);
      const { steps, resourceCount, leftOut } = explanation;
      const found = `Resources in the answer: ${resourceCount}${leftOut ? renderLeftOut(leftOut) : ''}`;
      const told = { message, scope, ...explanation };
      printResult(context, told, `${renderSteps(steps)}\n\n${found}`);
    } catch (error) {
      if (error instanceof UnknownIndexVersion) throw new CommandError(error.message, error);
      if (!(error instanceof ProtocolError)) throw error;
      const path = error.path === undefined ? '' : ` (${error.path})`;
      throw new CommandError(`${error.code}: ${error.message}${path}`, error);
    } finally {
      await threads.close();
    }
  });
}

/** Consumers see these numbers only on pages. */
function renderLeftOut({ resources, orMore, offers }: LeftOut): string {
  const others = resources > 0 ? [`${resources}${orMore ? ' or more' : ''} other resources`] : [];
  const missing = [...others, ...(offers > 0 ? [`${offers} offers`] : [])];
  return `; left out: ${missing.join(', ')}`;
}

function renderSteps(steps: readonly TraceStep[]): string {
  const rows = steps.map(({ step, ms, ...details }) => [
    step,
    ms === undefined ? '' : String(ms),
    Object.entries(details)
      .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(', '),
  ]);
  return renderTable(['STEP', 'MS', 'WHAT'], rows);
}
