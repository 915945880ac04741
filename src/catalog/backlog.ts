import { countOpenSubmissions } from '../storage/submissions.ts';
import type { CatalogContext } from './context.ts';

const sampleEveryMs = 2_000;

/** How many submissions wait to be processed, as of a moment ago: the measure by which new ones are turned away. */
export function watchBacklog({ database, metrics, logger }: CatalogContext): {
  size(): number;
  close(): void;
} {
  const gauge = metrics.gauge(
    'signpost_submissions_open',
    'Accepted publishes that are not processed yet',
    [],
  );
  let size = 0;
  const sample = async () => {
    size = await countOpenSubmissions(database);
    gauge.set(size);
  };
  const sampler = setInterval(() => {
    sample().catch((error) => logger.debug({ err: error }, 'cannot count open submissions'));
  }, sampleEveryMs).unref();
  return { size: () => size, close: () => clearInterval(sampler) };
}
