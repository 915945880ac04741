import type { Registration } from '../registry/registration.ts';
import { findTroubles, type Trouble, type UnregisteredKey } from '../rules/troubles.ts';
import type { Queryable } from '../storage/database.ts';
import { listFeedStates } from '../storage/feeds/feeds.ts';
import {
  forgetUnregistered,
  listUnregisteredKeys,
  noteUnregistered,
} from '../storage/work/unregistered-keys.ts';

export async function readTroubles(queryable: Queryable, now: Date): Promise<Trouble[]> {
  const [keys, feeds] = await Promise.all([listUnregisteredKeys(queryable), listFeedStates(queryable)]);
  return findTroubles({ keys, feeds }, now);
}

export type Troubles = ReturnType<typeof createTroubles>;

export function createTroubles(queryable: Queryable | undefined, now: () => Date) {
  const own = new Map<string, UnregisteredKey>();
  return {
    /** Troubles of one role of this process; a role without a database needs none. */
    async listOf(role: string) {
      const feeds = role === 'discovery' && queryable ? await listFeedStates(queryable) : [];
      return findTroubles({ keys: [...own.values()].filter((key) => key.role === role), feeds }, now());
    },
    /** Troubles of all processes of the database; without a database, of this process. */
    list: async () =>
      queryable
        ? readTroubles(queryable, now())
        : findTroubles({ keys: [...own.values()], feeds: [] }, now()),
    /** Whether the registry has the key of a role at this moment. */
    async note(role: string, { problem, since, ...key }: Registration) {
      own.delete(role);
      if (problem === undefined || since === undefined) {
        if (queryable) await forgetUnregistered(queryable, { role, ...key });
        return;
      }
      const unregistered = { role, problem, since, ...key };
      own.set(role, unregistered);
      if (queryable) await noteUnregistered(queryable, unregistered);
    },
  };
}
