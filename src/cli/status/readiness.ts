import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { type Config, listeningAddress } from '../../config.ts';
import type { Trouble } from '../../rules/troubles.ts';

// Readiness of roles from /ready: of this machine, each at its address or all at OPERATIONS_PORT, or of given addresses.

interface RoleReadiness {
  /** '' for an address without a role. */
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

/** @param isChosen the settings name the roles, so all must answer. Otherwise only answering roles count, unless none answers */
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

/** The default of `signpost serve`. */
const usualOperationsPort = 4006;

function operationsAddress({ OPERATIONS_HOST, OPERATIONS_PORT }: Config): string {
  const host = OPERATIONS_HOST.includes(':') ? `[${OPERATIONS_HOST}]` : OPERATIONS_HOST;
  return reachable(`http://${host}:${OPERATIONS_PORT || usualOperationsPort}`);
}

/** A server that listens on all addresses is called at the local one. */
function reachable(address: string): string {
  return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

interface Report {
  ready: boolean;
  problem?: string;
  troubles?: SaidTrouble[];
}

const answerMs = 6_000;

/** The state that the roles at an address report; undefined if no role answers. */
async function ask(address: string): Promise<Record<string, Report> | undefined> {
  try {
    // Not fetch, whose first call takes 0.2 s of processor time.
    const send = address.startsWith('https:') ? (await import('node:https')).get : get;
    const asking = send(`${address}/ready`, { agent: false, signal: AbortSignal.timeout(answerMs) });
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    const { roles } = (await json(answer)) as { roles?: Record<string, Report> };
    return roles;
  } catch {
    return undefined;
  }
}
