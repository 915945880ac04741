import type { Config } from '../../config.ts';
import { askTrigger } from '../trigger-client.ts';

// Publishing as files of our own: through the publisher that runs on this machine, otherwise on its directory. Both do the same.

export async function publishHere(config: Config, request: object, indexName?: string) {
  const answer = await askTrigger(config, request, indexName);
  if (answer) return { answer, by: `the publisher at ${config.triggerUrl}` };
  const { publishDirectly } = await import('./directory.ts');
  return {
    answer: await publishDirectly(config, request, indexName),
    by: `this command, in ${config.publisherDir}/public`,
  };
}
