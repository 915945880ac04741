import { randomUUID } from 'node:crypto';

// The taken slots of a loop (see due-work.ts), by the tokens of leases, and their number per group. A slot is taken by a claim, or reserved for a row
// that is being stored with a lease. If rows of the same group wait for their turn, only half of its slots are reserved: otherwise, fast callers
// would always take the next free slot.

export function createWorkSlots(groupLimit: number) {
  const groups = new Map<string, unknown>();
  const left = new Set<string>();
  const crowded = new Set<string>();

  function count(group: string): { working: number; gone: number } {
    let [working, gone] = [0, 0];
    for (const [token, its] of groups) {
      if (its !== group) continue;
      if (left.has(token)) gone += 1;
      else working += 1;
    }
    return { working, gone };
  }

  return {
    get size() {
      return groups.size;
    },
    take: (token: string, group: unknown) => void groups.set(token, group),
    /** Takes one for a row that is being stored; undefined if its group has none. `perGroup`: the maximum of leased rows of the group, more than its limit if some have left it. */
    reserve(group: string) {
      const { working, gone } = count(group);
      const limit = crowded.has(group) ? Math.floor(groupLimit / 2) : groupLimit;
      if (working >= limit) return undefined;
      const token = randomUUID();
      groups.set(token, group);
      return { token, perGroup: groupLimit + gone };
    },
    /** The rest of its work does not concern its group. */
    leaveGroup(token: string) {
      if (groups.has(token)) left.add(token);
    },
    leavers: () => [...left],
    free(token: string) {
      groups.delete(token);
      left.delete(token);
    },
    /** A row of the group was stored without a lease, and waits for its turn. */
    noteWaiting: (group: string) => void crowded.add(group),
    noteNoneWaiting: () => crowded.clear(),
  };
}
