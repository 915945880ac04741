import type { Config } from '../../config.ts';
import { askTrigger } from '../trigger-client.ts';

// Publishes as files, through the publisher on this machine or directly in its directory. Both do the same.

export async function publishHere(config: Config, request: object, indexName?: string) {
  const answer = await askTrigger(config, request, indexName);
  if (answer) return { answer, by: `the publisher at ${config.triggerUrl}` };
  const { publishDirectly } = await import('./directory.ts');
  return {
    answer: await publishDirectly(config, request, indexName),
    by: `this command, into ${config.publisherDir}/public`,
  };
}
