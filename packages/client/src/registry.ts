import { ProtocolError } from '../../../src/protocol/errors.ts';
import { findRegistryPath, identityOf } from '../../../src/protocol/identity.ts';
import { type Json, parseJson } from '../../../src/protocol/json.ts';
import { parsePublicKey } from '../../../src/protocol/keys.ts';
import {
  isUnder,
  type KeyLookup,
  type ParticipantRecord,
  parseLookupAnswer,
  parseQueryAnswer,
  unusableReason,
} from '../../../src/protocol/registry-record.ts';
import { readBytes } from './read-bytes.ts';

/** A DeDi registry (catalog spec: Authentication, rule 1). "Not found" is a value; an unreachable registry is NET_DOWNSTREAM_UNAVAILABLE. */
export interface Registry {
  findKey(subscriberId: string, recordId: string): Promise<KeyLookup>;
  /** The records of a participant with currently usable keys. */
  findSubscriber(subscriberId: string): Promise<ParticipantRecord[]>;
}

/** The default registry of a bare domain. */
export const defaultRegistryName = 'subscribers.beckn.one';

export interface RegistryOptions {
  url: string;
  registryName: string;
  fetch?: typeof fetch;
  now?: () => Date;
}

const maxKeepMs = 5 * 60_000;
const notFoundKeepMs = 30_000;
/** The oldest lookups are dropped first, because a client uses few services. */
const maxKept = 1_000;
const askTimeoutMs = 5_000;
const maxAnswerBytes = 4 * 1024 * 1024;

export function createRegistry(options: RegistryOptions): Registry {
  const { registryName, now = () => new Date() } = options;
  const kept = new Map<string, { record?: ParticipantRecord; untilMs: number }>();

  async function lookUp(path: string, identity: string): Promise<ParticipantRecord | undefined> {
    const known = kept.get(path);
    if (known && known.untilMs > now().getTime()) return known.record;
    const answer = await ask(options, path);
    const record = answer === undefined ? undefined : parseLookupAnswer(answer, identity);
    kept.set(path, { record, untilMs: now().getTime() + keepMs(record) });
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
    return record;
  }

  return {
    async findKey(subscriberId, recordId) {
      const identity = identityOf(subscriberId, registryName);
      const path = findRegistryPath('lookup', identity, recordId);
      const record = path && (await lookUp(path, identity));
      if (!record) return { kind: 'unknown-key' };
      const reason = unusableReason(record, now());
      if (reason !== undefined) return { kind: 'unusable', reason };
      return readKey({ ...record, recordId });
    },
    async findSubscriber(subscriberId) {
      const identity = identityOf(subscriberId, registryName);
      const path = findRegistryPath('query', identity);
      const answer = path && (await ask(options, path));
      const records = answer ? parseQueryAnswer(answer).records : [];
      return records.filter((one) => isUnder(identity, one) && unusableReason(one, now()) === undefined);
    },
  };
}

function keepMs(record: ParticipantRecord | undefined): number {
  if (!record) return notFoundKeepMs;
  return Math.min((record.ttlSeconds ?? Number.POSITIVE_INFINITY) * 1_000, maxKeepMs);
}

function readKey(record: ParticipantRecord): KeyLookup {
  try {
    return { kind: 'key', publicKey: parsePublicKey(record.signingPublicKey ?? ''), record };
  } catch (error) {
    return { kind: 'unknown-key', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Undefined if the registry has no such record. */
async function ask(options: RegistryOptions, path: string): Promise<Json | undefined> {
  const url = `${options.url.replace(/\/+$/, '')}${path}`;
  try {
    const response = await (options.fetch ?? fetch)(url, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(askTimeoutMs),
    });
    if (response.status === 404 || response.status === 410) return undefined;
    if (response.status !== 200) throw new Error(`it answered ${response.status}`);
    return parseJson(await readBytes(response, maxAnswerBytes));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const problem = `The registry at ${options.url} could not be queried: ${reason}.`;
    throw new ProtocolError('NET_DOWNSTREAM_UNAVAILABLE', problem, { cause: error });
  }
}
