import type { Metrics } from '../../metrics.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import type { LogLine } from '../../storage/crawl/log.ts';
import type { CrawlContext } from './context.ts';
import { CrawlFault, crawlCodes, hintOf, type ReadingFault } from './reasons.ts';

/** What a line of the crawl log is about. */
export type About = Pick<LogLine, 'node' | 'indexUrl' | 'catalogId'>;

/** Every reason is counted from zero, so that the first fault shows as an increase. */
export function countFaultsFromZero(metrics: Metrics): void {
  for (const code of crawlCodes) faultCounter(metrics).inc({ code, document: '' }, 0);
}

function faultCounter(metrics: Metrics) {
  return metrics.counter('signpost_crawl_faults_total', 'What the crawler did not take, by reason', [
    'code',
    'document',
  ]);
}

/** A fault as a line of the crawl log; it is counted, too. */
export function lineOf(
  { metrics, logger }: Pick<CrawlContext, 'metrics' | 'logger'>,
  about: About,
  fault: ReadingFault,
): LogLine {
  const document = fault instanceof TrustFault ? fault.document : undefined;
  const url = fault instanceof CrawlFault ? fault.url : undefined;
  faultCounter(metrics).inc({ code: fault.code, document: document ?? '' });
  if (fault.code === 'internal-error')
    logger.error({ ...about, err: fault.cause }, 'crawling failed; it will be tried again');
  else logger.debug({ ...about, code: fault.code, document, url, reason: fault.message }, 'not taken');
  return {
    ...about,
    ...(url !== undefined && { url }),
    ...(document !== undefined && { document }),
    code: fault.code,
    message: fault.message,
    hint: hintOf(fault.code),
  };
}
