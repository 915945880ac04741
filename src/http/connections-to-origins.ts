import { Agent } from './undici.ts';

// Connections to others, kept alive, several to one origin, each with one request at a time. An agent of undici with one connection per origin
// costs less than half of one with a pool for each (110 instead of 240 us of the processor where a connection serves one request, as in most polls of a
// crawler), so several to an origin are those of several agents.

export interface Connections {
  /** An agent that has no other request under way to this origin, unless all are taken. Call `leave` when the answer is there. */
  take(origin: string): { agent(): Agent; leave(): void };
  close(): Promise<void>;
}

export type ConnectionOptions = Omit<Agent.Options, 'connections' | 'factory'>;

export function createConnections(perOrigin: number, options: ConnectionOptions): Connections {
  const agents: Agent[] = [];
  /** How many requests to an origin each of the agents has under way. */
  const underWay = new Map<string, number[]>();

  function agentAt(index: number): Agent {
    agents[index] ??= new Agent({ ...options, connections: 1 });
    return agents[index];
  }

  return {
    take(origin) {
      const counts = underWay.get(origin) ?? [];
      underWay.set(origin, counts);
      const index = leastTaken(counts, perOrigin);
      counts[index] = (counts[index] ?? 0) + 1;
      return {
        agent: () => agentAt(index),
        leave() {
          counts[index] = (counts[index] ?? 0) - 1;
          if (counts.every((count) => count === 0)) underWay.delete(origin);
        },
      };
    },
    async close() {
      await Promise.all(agents.map((agent) => agent.close()));
    },
  };
}

/** The first that is free, because its connection is the likeliest to be open still. */
function leastTaken(counts: readonly number[], most: number): number {
  const free = counts.indexOf(0);
  if (free >= 0) return free;
  return counts.length < most ? counts.length : counts.indexOf(Math.min(...counts));
}
