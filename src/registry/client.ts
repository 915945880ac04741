/**
 * Who is who: keys and addresses of participants, from a DeDi registry (catalog spec: Authentication, rule 1).
 *
 * A key is found by one lookup, kept for a while and judged anew at each use: its state and validity against the
 * clock of that moment. "Not there" is a value; "could not ask" is a RegistryUnavailable.
 */
import type { KeyObject } from 'node:crypto';
import { identityOf, isIdPart, splitIdentity } from '../protocol/identity.ts';
import { isJsonObject, type Json } from '../protocol/json.ts';
import { parsePublicKey } from '../protocol/keys.ts';
import {
  type KeyLookup,
  type ParticipantRecord,
  parseLookupAnswer,
  parseQueryAnswer,
  unusableReason,
} from '../protocol/registry-record.ts';
import { type Ask, type AskOptions, createAsk, type RegistryState } from './ask.ts';
import { createLookupCache } from './lookup-cache.ts';

export { RegistryUnavailable } from './ask.ts';

export interface RegistryClientOptions extends Omit<AskOptions, 'now'> {
  /** The registry that a bare domain belongs to (REGISTRY_NAME). */
  registryName: string;
  now?: () => Date;
}

export interface RegistryClient {
  /** The key that a signature names, or why there is none to use. */
  findKey(subscriberId: string, recordId: string): Promise<KeyLookup>;
  /** The record of one key as the registry has it, usable or not. */
  lookup(subscriberId: string, recordId: string): Promise<ParticipantRecord | undefined>;
  /** All records of one participant, usable or not. */
  listRecords(subscriberId: string): Promise<ParticipantRecord[]>;
  /** The records of one participant whose keys are usable now. */
  findSubscriber(subscriberId: string): Promise<ParticipantRecord[]>;
  /** The records of the members of a network whose keys are usable now. It only names nodes. */
  queryNetwork(networkId: string): Promise<ParticipantRecord[]>;
  state(): RegistryState;
}

const maxKeepMs = 5 * 60_000;
const notFoundKeepMs = 30_000;
const maxCachedKeys = 20_000;
const maxCachedSubscribers = 5_000;
const maxLookupBytes = 256 * 1024;
const maxQueryBytes = 8 * 1024 * 1024;
const maxQueryPages = 1_000;

export function createRegistryClient(options: RegistryClientOptions): RegistryClient {
  const { registryName, now = () => new Date() } = options;
  const { ask, state } = createAsk({ ...options, now });
  const keys = createLookupCache<FoundKey>({
    maxEntries: maxCachedKeys,
    keepMs: (found) => (found ? Math.min(found.ttlMs, maxKeepMs) : notFoundKeepMs),
    now,
  });
  const subscribers = createLookupCache<ParticipantRecord[]>({
    maxEntries: maxCachedSubscribers,
    // A query has no ttl of its own: what it lists may change any time, so it is kept no longer than a not-found.
    keepMs: () => notFoundKeepMs,
    now,
  });

  async function findFoundKey(subscriberId: string, recordId: string): Promise<FoundKey | undefined> {
    const path = findPath('lookup', identityOf(subscriberId, registryName), recordId);
    return path && keys.find(path, () => askForKey(ask, path, recordId));
  }

  async function findRecords(subscriberId: string): Promise<ParticipantRecord[] | undefined> {
    const path = findPath('query', identityOf(subscriberId, registryName));
    return path && subscribers.find(path, () => askForRecords(ask, path));
  }

  /** Tells which of two refusals a missing key is; a registry that allows no queries leaves it at the milder claim. */
  async function isRegistered(subscriberId: string): Promise<boolean> {
    try {
      return (await findRecords(subscriberId)) !== undefined;
    } catch {
      return true;
    }
  }

  const usableNow = (records: ParticipantRecord[] = []) =>
    records.filter((record) => unusableReason(record, now()) === undefined);

  return {
    state,

    async findKey(subscriberId, recordId) {
      const found = await findFoundKey(subscriberId, recordId);
      if (!found) return { kind: (await isRegistered(subscriberId)) ? 'unknown-key' : 'unknown-subscriber' };
      const reason = unusableReason(found.record, now());
      if (reason !== undefined) return { kind: 'unusable', reason };
      // Neither expired nor revoked: there is none.
      if (!found.publicKey)
        return { kind: 'unknown-key', reason: 'what the registry holds for it is no Ed25519 key' };
      return { kind: 'key', publicKey: found.publicKey, record: found.record };
    },

    async lookup(subscriberId, recordId) {
      return (await findFoundKey(subscriberId, recordId))?.record;
    },

    async listRecords(subscriberId) {
      return (await findRecords(subscriberId)) ?? [];
    },

    async findSubscriber(subscriberId) {
      return usableNow(await findRecords(subscriberId));
    },

    async queryNetwork(networkId) {
      const path = findPath('query', identityOf(networkId, registryName));
      return usableNow(path && (await askForRecords(ask, path)));
    },
  };
}

/** A record with its key read once, because it is used for every signature of its owner. */
interface FoundKey {
  record: ParticipantRecord;
  publicKey?: KeyObject;
  ttlMs: number;
}

async function askForKey(ask: Ask, path: Path, recordId: string): Promise<FoundKey | undefined> {
  const found = await ask(path, maxLookupBytes, parseLookupAnswer);
  if (!found) return undefined;
  // Some registries show an internal id as record_id; the name under which the key was found is the one in keyIds.
  const record = { ...found, recordId };
  const ttlMs = record.ttlSeconds === undefined ? maxKeepMs : record.ttlSeconds * 1_000;
  return { record, publicKey: readKey(record.signingPublicKey), ttlMs };
}

function readKey(text: string | undefined): KeyObject | undefined {
  try {
    return text === undefined ? undefined : parsePublicKey(text);
  } catch {
    return undefined;
  }
}

/** All pages of a query, or undefined when it lists nobody. */
async function askForRecords(ask: Ask, path: Path): Promise<ParticipantRecord[] | undefined> {
  const records = new Map<string, ParticipantRecord>();
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const found = await ask(page === 1 ? path : `${path}?page=${page}`, maxQueryBytes, parsePage);
    const before = records.size;
    for (const record of found?.records ?? [])
      records.set(`${record.subscriberId}|${record.recordId}`, record);
    // A page that brings nothing new is the end, also of a registry that always shows the first one.
    if (!found || records.size === before) break;
    pages = Math.min(found.pages, maxQueryPages);
  }
  return records.size > 0 ? [...records.values()] : undefined;
}

function parsePage(answer: Json): { records: ParticipantRecord[]; pages: number } {
  const data = isJsonObject(answer) && isJsonObject(answer.data) ? answer.data : {};
  return { records: parseQueryAnswer(answer), pages: Number(data.total_pages ?? 1) };
}

/** Names that no registry can hold have no path, and are not asked for. */
function findPath(question: 'lookup' | 'query', identity: string, ...more: string[]): Path | undefined {
  const { namespace, registryName } = splitIdentity(identity);
  const names = [namespace, registryName, ...more];
  return names.every(isIdPart) ? `/${[question, ...names].map(encodeURIComponent).join('/')}` : undefined;
}

type Path = `/${string}`;
