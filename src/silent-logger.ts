import type { Logger } from 'pino';

/** A logger that says nothing, for tests and for commands whose output is their answer: these load no logger for it. */
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
