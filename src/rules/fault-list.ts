import type { ErrorBody } from '../protocol/errors.ts';

/** Maximum of faults listed for one catalog; with more, a callback might be too large to be received. */
const maxListedFaults = 1000;

export type FaultList = ReturnType<typeof createFaultList>;

/** Collects the faults of a catalog's parts, and says at the end if there were more than listed. */
export function createFaultList() {
  const listed: { fault: ErrorBody; id?: string }[] = [];
  let unlisted = 0;
  return {
    /** Adds the faults of one part, which is dropped; `id` is that of a resource. */
    refuse(faults: readonly ErrorBody[], id?: string): [] {
      const room = Math.max(0, maxListedFaults - listed.length);
      listed.push(...faults.slice(0, room).map((fault) => ({ fault, id })));
      unlisted += Math.max(0, faults.length - room);
      return [];
    },
    isEmpty: () => listed.length === 0,
    /** Whether further faults are only counted, so that they need no explanation. */
    isFull: () => listed.length === maxListedFaults,
    /** `wasServed` returns whether a resource was served until now and no longer is: its faults say so. */
    list(wasServed: (id: string) => boolean = () => false): ErrorBody[] {
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
