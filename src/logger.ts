import { createRequire } from 'node:module';
import { isatty } from 'node:tty';
import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';
export { silentLogger } from './silent-logger.ts';

export interface LogOptions {
  level: string;
  /** `pretty` for a person at a terminal, `json` for a log collector: without it, whichever reads along. */
  format?: 'pretty' | 'json';
  /** Nothing is logged of these subscribers. */
  quietAbout?: readonly string[];
}

/** Logs go to standard error, so that what a command prints can be piped. */
export function createLogger({
  level,
  format = isTerminal() ? 'pretty' : 'json',
  quietAbout = [],
}: LogOptions): Logger {
  const output = pino.destination({ fd: 2, sync: format === 'pretty' });
  output.on('error', () => undefined); // a terminal that was closed: there is work to finish all the same
  const destination =
    format === 'pretty'
      ? loadPretty()({
          destination: output,
          colorize: isTerminal(),
          ignore: 'pid,hostname',
          singleLine: true,
          translateTime: 'HH:MM:ss',
        })
      : output;
  const isQuiet = (told: unknown) =>
    typeof told === 'object' &&
    told !== null &&
    'subscriber' in told &&
    quietAbout.includes(`${told.subscriber}`);
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: {
        logMethod(args, method) {
          if (!isQuiet(args[0])) method.apply(this, args);
        },
        streamWrite(line) {
          for (const follower of followers) follower(line);
          return line;
        },
      },
    },
    destination,
  );
}

/** Only a person at a terminal needs it. */
const loadPretty = () => createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');

const followers = new Set<(line: string) => void>();

/** Tells every line that this process logs, as JSON; returns how to end it. */
export function followLogs(follower: (line: string) => void): () => void {
  followers.add(follower);
  return () => followers.delete(follower);
}

/** By its number: in a thread, `process.stderr` is not the terminal. */
function isTerminal(): boolean {
  return isatty(2);
}

/** The same logger without what a library says of its own accord, such as that it listens. */
export function warningsOnly(logger: Logger): Logger {
  return logger.isLevelEnabled('info') ? logger.child({}, { level: 'warn' }) : logger;
}
