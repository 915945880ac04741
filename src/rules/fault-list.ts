import type { ErrorBody } from '../protocol/errors.ts';

/** Faults of one catalog that are written out; a callback with more of them might be too large to be received. */
const maxListedFaults = 1000;

/** Collects what is wrong with a catalog's parts, and says at the end if there was more than it lists. */
export interface FaultList {
  /** Takes the faults of one part, of which nothing remains; `id` is that of a resource. */
  refuse(faults: readonly ErrorBody[], id?: string): [];
  isEmpty(): boolean;
  /** Whether further faults are only counted, so that nobody needs to explain them. */
  isFull(): boolean;
  /** `wasServed` tells of a resource whether it was served until now, and no longer is: its faults say so. */
  list(wasServed?: (id: string) => boolean): ErrorBody[];
}

export function createFaultList(): FaultList {
  const listed: { fault: ErrorBody; id?: string }[] = [];
  let unlisted = 0;
  return {
    refuse(faults, id) {
      const room = Math.max(0, maxListedFaults - listed.length);
      listed.push(...faults.slice(0, room).map((fault) => ({ fault, id })));
      unlisted += Math.max(0, faults.length - room);
      return [];
    },
    isEmpty: () => listed.length === 0,
    isFull: () => listed.length === maxListedFaults,
    list(wasServed = () => false) {
      const faults = listed.map(({ fault, id }) =>
        id !== undefined && wasServed(id)
          ? { ...fault, message: `${fault.message}; ${noLongerServed}` }
          : fault,
      );
      if (unlisted === 0) return faults;
      const message = `at least ${unlisted} more faults are not listed`;
      return [...faults, { code: 'BIZ_GENERIC_ERROR', message }];
    },
  };
}

const noLongerServed = 'the resource is no longer served';
