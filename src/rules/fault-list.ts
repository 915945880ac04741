import type { ErrorBody } from '../protocol/errors.ts';

/** Faults of one catalog that are written out; a callback with more of them might be too large to be received. */
const maxListedFaults = 1000;

/** Collects what is wrong with a catalog's parts, and says at the end if there was more than it lists. */
export interface FaultList {
  /** Takes the faults of one part, of which nothing remains. */
  refuse(faults: readonly ErrorBody[]): [];
  isEmpty(): boolean;
  /** Whether further faults are only counted, so that nobody needs to explain them. */
  isFull(): boolean;
  list(): ErrorBody[];
}

export function createFaultList(): FaultList {
  const listed: ErrorBody[] = [];
  let unlisted = 0;
  return {
    refuse(faults) {
      const room = Math.max(0, maxListedFaults - listed.length);
      listed.push(...faults.slice(0, room));
      unlisted += Math.max(0, faults.length - room);
      return [];
    },
    isEmpty: () => listed.length === 0,
    isFull: () => listed.length === maxListedFaults,
    list: () =>
      unlisted === 0
        ? listed
        : [
            ...listed,
            { code: 'BIZ_GENERIC_ERROR', message: `at least ${unlisted} more faults are not listed` },
          ],
  };
}
