import { createTurns, NoTurn } from '../fair-turns.ts';
import type { GuardedClient } from '../http/guarded-client.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { type Json, parseJson } from '../protocol/json.ts';

// One question to the registry: a bounded GET whose outcome is an answer, "not there", or RegistryUnavailable.

/** The registry could not be asked. Says nothing about the key: never a reason for 401, always one to try again. */
export class RegistryUnavailable extends ProtocolError {
  constructor(message: string, cause?: unknown) {
    super('NET_DOWNSTREAM_UNAVAILABLE', message, { cause, retryAfterSeconds });
  }
}

/** Returns the result of `read` on the answer, or undefined if the registry has nothing under that path. */
export type Ask = <T>(path: string, maxBytes: number, read: (answer: Json) => T) => Promise<T | undefined>;

export interface RegistryState {
  url: string;
  /** Undefined until it was asked. */
  reachable?: boolean;
  at?: Date;
  problem?: string;
}

export interface AskOptions {
  url: string;
  client: GuardedClient;
  logger: Logger;
  metrics?: Pick<Metrics, 'counter'>;
  now: () => Date;
}

const retryAfterSeconds = 5;
const askTimeoutMs = 5_000;
const maxRedirects = 3;
/**
 * While the registry is slow, made-up keys must neither flood it nor delay the answers to others. So questions about known keys have separate turns, and in both
 * groups the sources take turns (fair-turns.ts).
 */
const turnsOf = {
  known: { size: 12, maxWaiting: 1_000 },
  strangers: { size: 8, perOwner: 6, maxWaiting: 250 },
};

export interface Asker {
  /** Undefined for this process itself. */
  source?: string;
  isKnown?: boolean;
}

export function createAsk({ url, client, logger, metrics, now }: AskOptions) {
  const base = url.replace(/\/+$/, '');
  const [known, strangers] = [createTurns(turnsOf.known), createTurns(turnsOf.strangers)];
  const questions = metrics?.counter('signpost_registry_requests_total', 'Registry requests', ['outcome']);
  const state: RegistryState = { url: base };

  async function askOnce(path: string, maxBytes: number): Promise<{ answer: Json } | undefined> {
    const response = await client.request(`${base}${path}`, {
      headers: { accept: 'application/json' },
      timeoutMs: askTimeoutMs,
      maxBytes,
      maxInflatedBytes: maxBytes,
      maxRedirects,
      operatorConfigured: true,
    });
    if (response.status === 404 || response.status === 410) return undefined;
    if (response.status !== 200) throw new Error(`it answered ${response.status}`);
    return { answer: parseJson(response.body) };
  }

  function noteAnswer(outcome: 'found' | 'not_found'): void {
    if (state.reachable === false) logger.info({ registry: base }, 'the registry answers again');
    Object.assign(state, { reachable: true, at: now(), problem: undefined });
    questions?.inc({ outcome });
  }

  /** Told once in the log, and in `/ready` for as long as it lasts: every request would say it again. */
  function noteFailure(path: string, error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    const level = state.reachable === false ? 'debug' : 'warn';
    logger[level]({ registry: base, path, problem }, 'the registry could not be queried');
    Object.assign(state, { reachable: false, at: now(), problem });
    questions?.inc({ outcome: 'failed' });
  }

  return {
    state: (): RegistryState => ({ ...state }),
    /** Asks on behalf of somebody; unless said, of this process itself. */
    askFor:
      ({ source, isKnown = false }: Asker = {}): Ask =>
      async (path, maxBytes, read) => {
        const turns = source === undefined || isKnown ? known : strangers;
        const turn = await turns.take(source, askTimeoutMs).catch(refuse);
        try {
          const answered = await askOnce(path, maxBytes);
          // An unreadable answer is a failure, as no answer would be.
          const found = answered && read(answered.answer);
          noteAnswer(answered ? 'found' : 'not_found');
          return found;
        } catch (error) {
          noteFailure(path, error);
          throw new RegistryUnavailable('The registry could not be queried; try again later.', error);
        } finally {
          turn.end();
        }
      },
  };
}

function refuse(error: unknown): never {
  if (!(error instanceof NoTurn)) throw error;
  throw new RegistryUnavailable('Too many requests are waiting for the registry; try again later.', error);
}
