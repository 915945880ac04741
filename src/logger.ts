import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

export type { Logger } from 'pino';

export interface LogOptions {
  level: string;
  /** `pretty` for a person at a terminal, `json` for a log collector. */
  format: 'pretty' | 'json';
}

/** Logs go to standard error, so that what a command prints can be piped. */
export function createLogger({ level, format }: LogOptions): Logger {
  const destination =
    format === 'pretty'
      ? pretty({
          destination: 2,
          colorize: process.stderr.isTTY,
          ignore: 'pid,hostname',
          translateTime: 'HH:MM:ss',
          sync: true,
        })
      : pino.destination({ fd: 2, sync: false });
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

/** A logger that says nothing, for tests and for commands whose output is their answer. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}
