/**
 * Keys and addresses of participants, from a DeDi registry (catalog spec: Authentication, rule 1).
 *
 * A key is found by one lookup, cached for a while and checked again at each use: its state and validity at that moment. "Not there" is a value;
 * "could not ask" is a RegistryUnavailable.
 *
 * Recently found keys are looked up before others, and the lookups for one source are limited to its share (ask.ts): made-up keyIds, of nobody or of
 * a known participant, delay only their sender.
 */
import type { KeyObject } from 'node:crypto';
import type { FindKey, KeyQuestion } from '../http/authenticate.ts';
import { LruCache } from '../lru-cache.ts';
import { findRegistryPath, identityOf, isIdPart, type RegistryPath } from '../protocol/identity.ts';
import { parsePublicKey } from '../protocol/keys.ts';
import {
  isUnder,
  type ParticipantRecord,
  parseLookupAnswer,
  unusableReason,
} from '../protocol/registry-record.ts';
import { type Asker, type AskOptions, createAsk, type RegistryState } from './ask.ts';
import { createLookupCache } from './lookup-cache.ts';
import { askForRecords, type ListLimits, maxLookupBytes } from './query.ts';

export { RegistryUnavailable } from './ask.ts';

interface RegistryClientOptions extends Omit<AskOptions, 'now'> {
  registryName: string;
  now?: () => Date;
}

export interface RegistryClient {
  findKey: FindKey;
  lookup(subscriberId: string, recordId: string): Promise<ParticipantRecord | undefined>;
  listRecords(subscriberId: string): Promise<ParticipantRecord[]>;
  findSubscriber(subscriberId: string): Promise<ParticipantRecord[]>;
  /** The records of the members of a network whose keys are usable now. It only names nodes. */
  queryNetwork(networkId: string): Promise<ParticipantRecord[]>;
  state(): RegistryState;
}

const maxKeepMs = 5 * 60_000;
const notFoundKeepMs = 30_000;
const maxCachedKeys = 20_000;
const maxCachedSubscribers = 5_000;
/** A participant has a few keys. A request waits for this query. */
const participantLimits: ListLimits = { maxPages: 20, maxRecords: 10_000, maxLookups: 50 };
const networkLimits: ListLimits = { maxPages: 1_000, maxRecords: 200_000, maxLookups: 2_000 };
const maxRemembered = 1_000;
/** A key found within this time is looked up before others. */
const knownMs = 24 * 3_600_000;

export function createRegistryClient(options: RegistryClientOptions): RegistryClient {
  const { registryName, now = () => new Date() } = options;
  const { askFor, state } = createAsk({ ...options, now });
  const keys = createLookupCache<FoundKey>({
    maxEntries: maxCachedKeys,
    keepMs: (found) => (found ? Math.min(found.ttlMs, maxKeepMs) : notFoundKeepMs),
    now,
  });
  const subscribers = createLookupCache<ParticipantRecord[]>({
    maxEntries: maxCachedSubscribers,
    // A query has no ttl: its list may change any time, so it is kept no longer than a not-found.
    keepMs: () => notFoundKeepMs,
    now,
  });
  const told = new LruCache<string, string>(maxRemembered);
  const foundAtMs = new LruCache<string, number>(maxCachedKeys);

  async function lookUp(subscriberId: string, recordId: string, asker: Asker): Promise<FoundKey | undefined> {
    const identity = identityOf(subscriberId, registryName);
    const path = findRegistryPath('lookup', identity, recordId);
    if (path === undefined) return undefined;
    const ask = async () => {
      const question = askFor(asker);
      const found = await question(path, maxLookupBytes, (answer) => parseLookupAnswer(answer, identity));
      return found && foundKey(found, recordId);
    };
    return keys.find(path, ask, asker.source);
  }

  async function findByName(subscriberId: string, name: string, { source }: KeyQuestion = {}) {
    if (!isIdPart(name)) return 'unknown-key';
    const keyId = `${identityOf(subscriberId, registryName)}|${name}`;
    const ageMs = now().getTime() - (foundAtMs.find(keyId) ?? Number.NEGATIVE_INFINITY);
    const found = await askByName(subscriberId, name, { source, isKnown: ageMs < knownMs });
    if (typeof found !== 'string') foundAtMs.keep(keyId, now().getTime());
    return found;
  }

  async function askByName(subscriberId: string, name: string, asker: Asker): Promise<FoundKey | MissingKey> {
    const found = await lookUp(subscriberId, name, asker);
    if (found) return found;
    // If a registry allows no queries, the result is the milder claim.
    const records = await findRecords(subscriberId, asker).catch(() => []);
    return records ? lookUpByOtherName(subscriberId, name, records, asker) : 'unknown-subscriber';
  }

  /** Registries that give a record two names may look it up by only one of them; their lists have both. The list alone proves nothing: under the name of a network it has the keys of others. */
  async function lookUpByOtherName(
    subscriberId: string,
    name: string,
    records: readonly ParticipantRecord[],
    asker: Asker,
  ): Promise<FoundKey | MissingKey> {
    for (const { recordId, recordName } of records) {
      if (recordName === undefined || (recordId !== name && recordName !== name)) continue;
      const found = await lookUp(subscriberId, recordId === name ? recordName : recordId, asker);
      if (found?.record.recordName === name) return { ...found, record: { ...found.record, recordId: name } };
    }
    return 'unknown-key';
  }

  async function findRecords(subscriberId: string, asker: Asker = {}) {
    const identity = identityOf(subscriberId, registryName);
    const path = findRegistryPath('query', identity);
    const list = async (query: RegistryPath) => {
      const records = await listAll(identity, query, participantLimits, asker);
      return records?.filter((record) => isUnder(identity, record));
    };
    return path && subscribers.find(path, () => list(path), asker.source);
  }

  /** Undefined if it lists nobody, not even a record that is left out. */
  async function listAll(identity: string, query: RegistryPath, limits: ListLimits, asker?: Asker) {
    const lookup = (name: string) => findRegistryPath('lookup', identity, name) ?? query;
    const { records, leftOut } = await askForRecords(askFor(asker), { query, lookup }, limits);
    tellLeftOut(query, leftOut);
    return records.length > 0 || leftOut.length > 0 ? records : undefined;
  }

  /** Logged once per change: the same list is requested every few minutes. */
  function tellLeftOut(path: RegistryPath, leftOut: readonly string[]): void {
    const text = leftOut.join('; ');
    if (told.find(path) === text) return;
    told.keep(path, text);
    if (text === '') return;
    options.logger.warn({ registry: state().url, path, leftOut }, 'records of the registry are left out');
  }

  const usableNow = (records: ParticipantRecord[] = []) =>
    records.filter((record) => unusableReason(record, now()) === undefined);

  return {
    state,

    async findKey(subscriberId, recordId, question) {
      const found = await findByName(subscriberId, recordId, question);
      if (typeof found === 'string') return { kind: found };
      const reason = unusableReason(found.record, now());
      if (reason !== undefined) return { kind: 'unusable', reason };
      // There is no key, neither expired nor revoked.
      if ('keyFault' in found)
        return {
          kind: 'unknown-key',
          reason: `the registry has no usable Ed25519 key for it: ${found.keyFault}`,
        };
      return { kind: 'key', publicKey: found.publicKey, record: found.record };
    },

    async lookup(subscriberId, recordId) {
      const found = await findByName(subscriberId, recordId);
      return typeof found === 'string' ? undefined : found.record;
    },

    async listRecords(subscriberId) {
      return (await findRecords(subscriberId)) ?? [];
    },

    async findSubscriber(subscriberId) {
      return usableNow(await findRecords(subscriberId));
    },

    async queryNetwork(networkId) {
      const identity = identityOf(networkId, registryName);
      const path = findRegistryPath('query', identity);
      return usableNow(path && (await listAll(identity, path, networkLimits)));
    },
  };
}

/** A record with its parsed key, because every signature of its owner needs it. */
type FoundKey = ReadKey & {
  record: ParticipantRecord;
  ttlMs: number;
};

type ReadKey = { publicKey: KeyObject } | { keyFault: string };

type MissingKey = 'unknown-key' | 'unknown-subscriber';

/** Some registries return an internal id as record_id; keyIds have the name under which the key was found. */
function foundKey(found: ParticipantRecord, recordId: string): FoundKey {
  const recordName = [found.recordId, found.recordName].find((name) => name && name !== recordId);
  const record = { ...found, recordId, ...(recordName !== undefined && { recordName }) };
  const ttlMs = record.ttlSeconds === undefined ? maxKeepMs : record.ttlSeconds * 1_000;
  return { record, ...readKey(record.signingPublicKey), ttlMs };
}

function readKey(text: string | undefined): ReadKey {
  if (text === undefined) return { keyFault: 'its record has none' };
  try {
    return { publicKey: parsePublicKey(text) };
  } catch (error) {
    return { keyFault: error instanceof Error ? error.message : String(error) };
  }
}
