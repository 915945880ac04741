import { type Logger, silentLogger } from '../../../src/logger.ts';

export interface LogLine {
  [detail: string]: unknown;
  says: string;
}

/** A logger that keeps its warnings. */
export function keepWarnings(): { logger: Logger; warnings: LogLine[] } {
  const warnings: LogLine[] = [];
  const warn = (details: object, says: string) => warnings.push({ ...details, says });
  const logger = Object.assign(Object.create(silentLogger()), { warn, child: () => logger });
  return { logger, warnings };
}
