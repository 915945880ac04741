import type { LookupFunction } from 'node:net';
import { specialRangeOf } from '../rules/addresses.ts';
import { findLiteralRefusal, publicOnly, refusal } from './public-addresses.ts';
import { Agent, buildConnector } from './undici.ts';

// Connections to others, kept alive, several to one origin. An agent of undici with one connection per origin takes half the processor time of one
// with pools (measured), so several connections are those of several agents.

export type Connections = ReturnType<typeof createConnections>;

export type ConnectionOptions = Omit<Agent.Options, 'connections' | 'factory'>;

export function createConnections(perOrigin: number, options: ConnectionOptions) {
  const agents: Agent[] = [];
  /** How many requests to an origin each of the agents has under way. */
  const underWay = new Map<string, number[]>();

  function agentAt(index: number): Agent {
    agents[index] ??= new Agent({ ...options, connections: 1 });
    return agents[index];
  }

  return {
    /** An agent that has no other request under way to this origin, unless all are taken. Call `leave` when the answer is there. */
    take(origin: string) {
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

const connectTimeoutMs = 10_000;

/** Opens connections to public addresses only: checked in the resolution whose result the socket connects to, and again on the socket. */
export function guardedConnector(resolve: LookupFunction): buildConnector.connector {
  const connect = buildConnector({ lookup: publicOnly(resolve), timeout: connectTimeoutMs });
  return (options, callback) => {
    const refused = findLiteralRefusal(options.hostname);
    if (refused) return callback(refused, null);
    connect(options, (error, socket) => {
      if (error) return callback(error, null);
      const range = specialRangeOf(socket.remoteAddress ?? '');
      if (range === undefined) return callback(null, socket);
      socket.destroy();
      callback(refusal(options.hostname, socket.remoteAddress ?? 'no address', range), null);
    });
  };
}

/** The connector for addresses that the operator configured or allowed. */
export function openConnector(resolve: LookupFunction): buildConnector.connector {
  return buildConnector({ lookup: resolve, timeout: connectTimeoutMs });
}
