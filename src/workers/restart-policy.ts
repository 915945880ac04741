// The delay before an ended worker is restarted: short at first, longer each time that it ends soon after its start.

const firstDelayMs = 200;
const maxDelayMs = 30_000;
/** If a worker lived at least this long, its end counts as the first one. */
const stableMs = 60_000;
/** After this many ends in a row, the supervisor gives advice. */
const adviseAfter = 3;

export interface End {
  livedMs: number;
  /** Number of consecutive earlier ends, each soon after a start. */
  before: number;
}

export function countEnds({ livedMs, before }: End): number {
  return livedMs >= stableMs ? 1 : before + 1;
}

export function restartDelayMs(ends: number): number {
  return Math.min(maxDelayMs, firstDelayMs * 2 ** (ends - 1));
}

/** A sentence for the operator, who must find the cause if a worker ends repeatedly. */
export function describeEnd(worker: number, cause: string, ends: number): string {
  const said = `Worker ${worker} ended (${cause}). It is started again in ${restartDelayMs(ends) / 1_000} s; the other workers keep running.`;
  if (ends < adviseAfter) return said;
  return `${said} It has ended ${ends} times in a row: look for its lines in this log ("worker":${worker}). If it was killed (SIGKILL), memory may be short: set fewer WORKERS, or a lower SEARCH_CACHE_PERCENT.`;
}
