import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { type Config, listeningAddress } from '../../config.ts';
import type { Role } from '../../setting-table.ts';

// Whether the roles of this machine can do their work, as they say at /ready: each at its own address, or all of a process at OPERATIONS_PORT.

export interface RoleReadiness {
  role: Role;
  state: 'ready' | 'not ready' | 'not reached';
  address: string;
  problem?: string;
}

export async function askReadiness(config: Config): Promise<RoleReadiness[]> {
  const operations = await ask(operationsAddress(config));
  return Promise.all(
    config.roles.map(async (role) => {
      const address = reachable(listeningAddress(config, role));
      const report = operations?.[role] ?? (await ask(address))?.[role];
      if (!report) return { role, state: 'not reached', address };
      const { ready, problem } = report;
      return { role, state: ready ? 'ready' : 'not ready', address, ...(problem && { problem }) };
    }),
  );
}

/** Where `signpost serve` has it unless told otherwise. */
const usualOperationsPort = 4006;

function operationsAddress({ OPERATIONS_HOST, OPERATIONS_PORT }: Config): string {
  const host = OPERATIONS_HOST.includes(':') ? `[${OPERATIONS_HOST}]` : OPERATIONS_HOST;
  return reachable(`http://${host}:${OPERATIONS_PORT || usualOperationsPort}`);
}

/** Who listens on every address of the machine is asked at its own. */
function reachable(address: string): string {
  return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

type Reports = Partial<Record<string, { ready: boolean; problem?: string }>>;

const answerMs = 6_000;

/** What the roles of an address say; undefined where nobody answers there, or something else. */
async function ask(address: string): Promise<Reports | undefined> {
  try {
    // Not fetch, which takes 0.2 s of processor time at its first call.
    const asking = get(`${address}/ready`, { agent: false, signal: AbortSignal.timeout(answerMs) });
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    const { roles } = (await json(answer)) as { roles?: Reports };
    return roles;
  } catch {
    return undefined;
  }
}
