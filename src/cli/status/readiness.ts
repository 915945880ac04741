import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { type Config, listeningAddress } from '../../config.ts';
import type { Trouble } from '../../rules/troubles.ts';

// Whether roles can do their work, as they say at /ready: of this machine, each at its address or all at OPERATIONS_PORT, or of given addresses.

interface RoleReadiness {
  /** '' of an address where no role answers. */
  role: string;
  state: 'ready' | 'not ready' | 'not reached';
  address: string;
  problem?: string;
  troubles: SaidTrouble[];
}

export type SaidTrouble = Omit<Trouble, 'since'> & { since: string };

export async function askAddresses(addresses: readonly string[]): Promise<RoleReadiness[]> {
  const asked = await Promise.all(
    addresses.map(async (address) => {
      const reports = (await ask(address.replace(/\/+$/, ''))) ?? { '': undefined };
      return Object.entries(reports).map(([role, report]) => readinessOf(role, address, report));
    }),
  );
  return asked.flat();
}

/** @param isChosen the settings name the roles: then one that does not answer is missing. Otherwise those that answer are all, unless none does */
export async function askRoles(config: Config, isChosen: boolean): Promise<RoleReadiness[]> {
  const operations = (await ask(operationsAddress(config))) ?? {};
  const roles = await Promise.all(
    config.roles.map(async (role) => {
      const address = reachable(listeningAddress(config, role));
      const report = operations[role] ?? (await ask(address))?.[role];
      return readinessOf(role, address, report);
    }),
  );
  const reached = roles.filter(({ state }) => state !== 'not reached');
  return isChosen || reached.length === 0 ? roles : reached;
}

function readinessOf(role: string, address: string, report: Report | undefined): RoleReadiness {
  if (!report) return { role, state: 'not reached', address, troubles: [] };
  const { ready, problem, troubles = [] } = report;
  return { role, state: ready ? 'ready' : 'not ready', address, ...(problem && { problem }), troubles };
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

interface Report {
  ready: boolean;
  problem?: string;
  troubles?: SaidTrouble[];
}

const answerMs = 6_000;

/** The state that the roles at an address report; undefined if nobody answers, or something else does. */
async function ask(address: string): Promise<Record<string, Report> | undefined> {
  try {
    // Not fetch, which takes 0.2 s of processor time at its first call.
    const send = address.startsWith('https:') ? (await import('node:https')).get : get;
    const asking = send(`${address}/ready`, { agent: false, signal: AbortSignal.timeout(answerMs) });
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    const { roles } = (await json(answer)) as { roles?: Record<string, Report> };
    return roles;
  } catch {
    return undefined;
  }
}
