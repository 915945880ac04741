import type { Config } from '../../config.ts';
import type { TriggerAnswer } from '../../protocol/trigger-messages.ts';
import { askTrigger } from '../trigger-client.ts';

// Publishing as files of our own: through the publisher that runs on this machine, otherwise on its directory. Both do the same.

/** The answer, and who gave it, for the person who asked. */
export async function publishHere(
  config: Config,
  request: object,
  indexName?: string,
): Promise<{ answer: TriggerAnswer; by: string }> {
  const answer = await askTrigger(config, request, indexName);
  if (answer) return { answer, by: `the publisher at ${config.triggerUrl}` };
  const { publishDirectly } = await import('./directory.ts');
  return {
    answer: await publishDirectly(config, request, indexName),
    by: `this command, in ${config.publisherDir}/public`,
  };
}
