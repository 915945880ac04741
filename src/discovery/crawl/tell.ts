import type { Metrics } from '../../metrics.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import type { LogLine } from '../../storage/crawl/log.ts';
import type { CrawlContext } from './context.ts';
import { CrawlFault, crawlCodes, hintOf, type ReadingFault } from './reasons.ts';

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

type Teller = Pick<CrawlContext, 'metrics' | 'logger'>;

/** A fault as a line of the crawl log; it is counted, too. */
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
  const document = fault instanceof TrustFault ? fault.document : undefined;
  const url = fault instanceof CrawlFault ? fault.url : undefined;
  return {
    ...about,
    ...(url !== undefined && { url }),
    ...(document !== undefined && { document }),
    code: fault.code,
    message: fault.message,
    hint: hintOf(fault.code),
  };
}
