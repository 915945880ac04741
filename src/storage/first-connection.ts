import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { hasCode } from '../error-code.ts';
import type { Logger } from '../logger.ts';
import { connectionSettings, describeServer } from './connection.ts';
import { describePooler, isFromPooler } from './refuse-pooler.ts';

// The first connection of a process. A server that is starting up is waited for a while by everybody. A server that is down is waited for
// by roles, which are often started together with it and must not depend on the order; a command says so and ends.

/** How long a server that is just starting up is waited for. */
const startingUpMs = 30_000;
const pauseMs = 200;
const longPauseMs = 1_000;
const sayEveryMs = 10_000;

export interface FirstConnectionOptions {
  url: string;
  logger: Logger;
  waitForServer?: boolean;
  /** Aborted, nothing is waited for any more, and its reason is thrown. */
  signal?: AbortSignal;
}

export async function connectFirst(options: FirstConnectionOptions): Promise<pg.Client> {
  const { url, logger, waitForServer = false, signal } = options;
  const settings = connectionSettings(url);
  const started = Date.now();
  let saidAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      const client = await connectOnce(settings, signal);
      if (saidAt > 0) logger.info(`${describeServer(url)} answers`);
      return client;
    } catch (error) {
      signal?.throwIfAborted();
      const reason = plainReason(error);
      if (isFromPooler(error)) throw new Error(describePooler(url), { cause: error });
      const isPatient = waitForServer ? isDown(error) : isStartingUp(error);
      if (!isPatient || (!waitForServer && Date.now() - started > startingUpMs))
        throw new Error(`Cannot connect to ${describeServer(url)}: ${reason}`, { cause: error });
      if (waitForServer && Date.now() - saidAt >= sayEveryMs) {
        logger.warn(`waiting for ${describeServer(url)}, which cannot be reached: ${reason}`);
        saidAt = Date.now();
      }
      await delay(waitForServer ? longPauseMs : pauseMs, undefined, { signal }).catch(() => undefined);
      signal?.throwIfAborted();
    }
  }
}

/** Over a socket of ours, which can be given up before it is connected. */
async function connectOnce(settings: pg.ClientConfig, signal: AbortSignal | undefined): Promise<pg.Client> {
  const socket = new Socket();
  const client = new pg.Client({ ...settings, stream: () => socket });
  // A connection that breaks also fails the statement under way; unheard, the event would end the process.
  client.on('error', () => undefined);
  const giveUp = () => void socket.destroy(new Error('given up'));
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    await client.connect();
    return client;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}

function isDown(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isDown);
  if (error instanceof pg.DatabaseError) return unavailableStates.includes(error.code ?? '');
  return hasCode(error, ...unreachable) || isTimeout(error);
}

function isStartingUp(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === startingUp;
}

const startingUp = '57P03';
/** Starting up or shutting down, or without a place for another connection. */
const unavailableStates = [startingUp, '57P01', '57P02', '53300'];
/** ENOENT is a socket in a directory. */
const unreachable = [
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'ENOENT'],
];

/** Two errors of pg without a code: nobody answers, or something accepts connections and closes them, as a proxy does without its server. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && /^(timeout expired|Connection terminated)/.test(error.message);
}

/** A refused connection to a name with several addresses is an AggregateError whose own message is empty. */
export function plainReason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(plainReason).join('; ');
  return error instanceof Error ? error.message : String(error);
}
