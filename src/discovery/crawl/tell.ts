import type { Metrics } from '../../metrics.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import { type LogLine, writeLog } from '../../storage/crawl/log.ts';
import type { Queryable } from '../../storage/database.ts';
import type { CrawlContext } from './context.ts';
import { crawlCodes, crawlHints, type ReadingFault } from './reasons.ts';

export type About = Pick<LogLine, 'node' | 'indexUrl' | 'catalogId'>;

/** Counts every reason from zero, so that the first fault shows as an increase. */
export function countFaultsFromZero(metrics: Metrics): void {
  for (const code of crawlCodes) faultCounter(metrics).inc({ code, document: '' }, 0);
}

function faultCounter(metrics: Metrics) {
  return metrics.counter('signpost_crawl_faults_total', 'What the crawler did not accept, by reason', [
    'code',
    'document',
  ]);
}

type Teller = Pick<CrawlContext, 'metrics' | 'logger'>;

export async function logFaults(
  queryable: Queryable,
  context: CrawlContext,
  about: About,
  faults: readonly ReadingFault[],
): Promise<void> {
  const lines = faults.map((fault) => lineOf(context, about, fault));
  await writeLog(queryable, lines, context.now());
}

/** Counts a fault and converts it to a line of the crawl log. */
export function lineOf(teller: Teller, about: About, fault: ReadingFault): LogLine {
  const line = renderLine(about, fault);
  if (fault.code === 'internal-error')
    teller.logger.error({ ...about, err: fault.cause }, 'crawling failed; it will be tried again');
  countLine(teller, line);
  return line;
}

export function countLine({ metrics, logger }: Teller, { hint: _hint, ...line }: LogLine): void {
  const { code, document = '' } = line;
  faultCounter(metrics).inc({ code, document });
  logger.debug(line, 'not taken');
}

export function renderLine(about: About, fault: ReadingFault): LogLine {
  const { code, message } = fault;
  const where = fault instanceof TrustFault ? { document: fault.document } : { url: fault.url };
  return { ...about, ...where, code, message, hint: crawlHints[code] };
}
