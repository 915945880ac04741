import { createRequire } from 'node:module';
import { isatty } from 'node:tty';
import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';
export { silentLogger } from './silent-logger.ts';

export interface LogOptions {
  level: string;
  /** `pretty` for a terminal, `json` for a log collector; default: depends on the output. */
  format?: 'pretty' | 'json';
  /** Subscribers that are never logged. */
  quietAbout?: readonly string[];
}

/** Logs go to standard error, so that the output of commands can be piped. */
export function createLogger({
  level,
  format = isTerminal() ? 'pretty' : 'json',
  quietAbout = [],
}: LogOptions): Logger {
  const output = pino.destination({ fd: 2, sync: format === 'pretty' });
  output.on('error', () => undefined); // a closed terminal: there is still work to finish
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

/** Only needed at a terminal. */
const loadPretty = () => createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');

const followers = new Set<(line: string) => void>();

/** Passes every log line of this process to the follower, as JSON; returns a function that stops it. */
export function followLogs(follower: (line: string) => void): () => void {
  followers.add(follower);
  return () => followers.delete(follower);
}

/** By file descriptor: in a thread, `process.stderr` is not the terminal. */
function isTerminal(): boolean {
  return isatty(2);
}

/** The same logger without a library's info messages, such as that it listens. */
export function warningsOnly(logger: Logger): Logger {
  return logger.isLevelEnabled('info') ? logger.child({}, { level: 'warn' }) : logger;
}
