import type { Logger } from 'pino';

/** A logger without output, for tests and for commands with their own output, which need not load a real one. */
export function silentLogger(): Logger {
  return silent as object as Logger;
}

const say = () => undefined;
const silent = {
  ...{ fatal: say, error: say, warn: say, info: say, debug: say, trace: say, silent: say },
  level: 'silent',
  isLevelEnabled: () => false,
  child: () => silent,
  bindings: () => ({}),
  flush: say,
};
