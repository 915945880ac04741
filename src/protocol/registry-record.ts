/** Parses the answers of any DeDi registry. Every known spelling is accepted, an unreadable member counts as absent, and a record with an unknown state or an unreadable validity is not usable. */

import type { KeyObject } from 'node:crypto';
import { attempt } from '../attempt.ts';
import { ProtocolError } from './errors.ts';
import { splitIdentity } from './identity.ts';

export const recordStates = ['draft', 'live', 'suspended', 'revoked', 'expired'] as const;
/** Only keys in state live are usable. */
export type RecordState = (typeof recordStates)[number];

export interface ParticipantRecord {
  /** Empty if a flat record lacks it: then only the lookup that found the record knows its name. */
  recordId: string;
  /** The other name of the record, if the registry gives it two: lookups and signatures may use either. */
  recordName?: string;
  /** `details.subscriber_id`; names the participant, but is not the identity that a keyId proves. */
  subscriberId: string;
  url?: string;
  type?: string;
  /** `details.domain`: the business domain that the participant serves. */
  domain?: string;
  networkMemberships: string[];
  catalogIndexUrls: string[];
  /** `unknown` if the registry named no known state; such a record is not usable. */
  state: RecordState | 'unknown';
  /** The flat form of the specification: `{subscriber_id, type, url, meta}`, without `details`. */
  isFlat?: true;
  /** State of the registry that holds the record, if the answer has it. */
  registryState?: string;
  ttlSeconds?: number;
  /** As the registry spelled it; keys.ts reads every spelling. */
  signingPublicKey?: string;
  /** ISO 8601, as the registry wrote it. */
  validFrom?: string;
  validUntil?: string;
}

/** The result of a key lookup. A registry that cannot be asked is an error and not a result. */
export type KeyLookup =
  | { kind: 'key'; publicKey: KeyObject; record: ParticipantRecord }
  | { kind: 'unusable'; reason: string }
  | { kind: 'unknown-key'; reason?: string }
  | { kind: 'unknown-subscriber' };

export function requireKey(lookup: KeyLookup): Extract<KeyLookup, { kind: 'key' }> {
  if (lookup.kind === 'key') return lookup;
  if (lookup.kind === 'unusable')
    throw new ProtocolError('AUT_KEY_EXPIRED_OR_REVOKED', `The key cannot be used: ${lookup.reason}.`);
  if (lookup.kind === 'unknown-subscriber')
    throw new ProtocolError('AUT_SUBSCRIBER_NOT_FOUND', 'The registry does not know this subscriber.');
  const why = lookup.reason ? `: ${lookup.reason}` : '';
  throw new ProtocolError('AUT_KEY_NOT_FOUND', `The registry has no such key of this subscriber${why}.`);
}

/** Undefined for the record of another participant. An answer without a record counts as an unavailable registry. */
export function parseLookupAnswer(answer: unknown, identity: string): ParticipantRecord | undefined {
  const record = findLookedUp(answer);
  if (!record) throw unreadable('the lookup answer has no record');
  return isUnder(identity, record) ? record : undefined;
}

export function findLookedUp(answer: unknown): ParticipantRecord | undefined {
  const data = member(answer, 'data');
  const record = findParticipantRecord(data);
  return record && withRegistryState(record, member(data, 'registry_state'));
}

/** Only its `subscriber_id` says whose a flat record is, so it must be the requested name. */
export function isUnder(identity: string, { subscriberId, isFlat }: ParticipantRecord): boolean {
  return !isFlat || subscriberId === identity || subscriberId === splitIdentity(identity).namespace;
}

/** One page of a query. Unreadable records are omitted, so that one of them does not hide the others. */
export interface QueryPage {
  records: ParticipantRecord[];
  /** Names of records that the page only summarizes: each must be looked up. The second name is tried after the first. */
  summaries: string[][];
  unreadable: number;
  pages: number;
}

export function parseQueryAnswer(answer: unknown): QueryPage {
  const data = member(answer, 'data');
  const listed = Array.isArray(data) ? data : member(data, 'records');
  if (!Array.isArray(listed)) throw unreadable('the query answer has no list of records');
  const state = member(data, 'registry_state') ?? member(data, 'state');
  const page: QueryPage = { records: [], summaries: [], unreadable: 0, pages: pagesOf(data) };
  for (const value of listed) {
    const record = findParticipantRecord(value);
    const names = hasDetails(value) ? [] : namesOf(value);
    if (record) page.records.push(withRegistryState(record, state));
    else if (names.length > 0) page.summaries.push(names);
    else page.unreadable += 1;
  }
  return page;
}

/** Some registries return the number of records, and of records per page, instead of the number of pages. */
function pagesOf(data: unknown): number {
  const [pages, total, size] = ['total_pages', 'total_records', 'page_size'].map((name) =>
    amountOf(member(data, name)),
  );
  return pages ?? (total !== undefined && size ? Math.ceil(total / size) : 1);
}

function hasDetails(value: unknown): boolean {
  const details = member(value, 'details');
  return typeof details === 'object' && details !== null && Object.keys(details).length > 0;
}

/** DeDi looks up records by their name, so it comes first. */
function namesOf(value: unknown): string[] {
  const names = [text(member(value, 'record_name')), text(member(value, 'record_id'))];
  return [...new Set(names.filter((name) => name !== undefined))];
}

function withRegistryState(record: ParticipantRecord, state: unknown): ParticipantRecord {
  const registryState = text(state);
  return registryState === undefined ? record : { ...record, registryState };
}

/**
 * One record of a lookup, of a query or of a subscriber record file; undefined if it names neither itself nor a participant. A flat record has the
 * members of `details` at its top level, and is live unless it has another state.
 */
export function findParticipantRecord(value: unknown): ParticipantRecord | undefined {
  const isFlat = member(value, 'details') === undefined;
  const details = isFlat ? value : member(value, 'details');
  const recordName = text(member(value, 'record_name'));
  const recordId = text(member(value, 'record_id')) ?? recordName ?? (isFlat ? '' : undefined);
  const subscriberId = text(member(details, 'subscriber_id'));
  if (recordId === undefined || subscriberId === undefined) return undefined;
  return {
    recordId,
    ...(isFlat && { isFlat }),
    ...(recordName !== undefined && recordName !== recordId && { recordName }),
    subscriberId,
    url: text(member(details, 'url')),
    type: text(member(details, 'type')),
    domain: text(member(details, 'domain')),
    networkMemberships: texts(member(value, 'network_memberships')),
    catalogIndexUrls: catalogIndexUrls(value),
    state: recordState(member(value, 'state') ?? (isFlat ? 'live' : undefined)),
    ttlSeconds: amountOf(member(value, 'ttl')),
    signingPublicKey: text(member(details, 'signing_public_key')),
    validFrom: bound(member(details, 'valid_from')),
    validUntil: bound(member(details, 'valid_until')),
  };
}

/** Why the key of a record must not be used at this moment; undefined if it may be. */
export function unusableReason(record: ParticipantRecord, now: Date): string | undefined {
  const { registryState } = record;
  if (registryState !== undefined && !activeStates.includes(registryState.toLowerCase()))
    return `its registry is in state ${registryState}`;
  if (record.state !== 'live') return `the key is in state ${record.state}`;
  if (record.validFrom !== undefined && !(instantOf(record.validFrom) <= now.getTime()))
    return `the key is not valid before ${record.validFrom}`;
  if (record.validUntil !== undefined && !(instantOf(record.validUntil) >= now.getTime()))
    return `the key is not valid after ${record.validUntil}`;
  return undefined;
}

const activeStates = ['live', 'active'];

/** NaN if the text does not begin with a date: `Date.parse` would read "12" as December. */
function instantOf(text: string): number {
  return /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
}

/** Occurs as an array of `{url}` (as specified), as bare strings, as JSON text, and under details instead of meta. */
function catalogIndexUrls(record: unknown): string[] {
  const listed =
    member(readIfJson(member(record, 'meta')), 'catalog_index_urls') ??
    member(member(record, 'details'), 'catalog_index_urls');
  const entries = readIfJson(listed);
  if (!Array.isArray(entries)) return [];
  const urls = entries.map((entry) => text(entry) ?? text(member(entry, 'url')));
  return [...new Set(urls.filter((url) => url !== undefined))];
}

function readIfJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return attempt(() => JSON.parse(value));
}

function recordState(value: unknown): ParticipantRecord['state'] {
  const name = text(value)?.toLowerCase();
  return recordStates.find((state) => state === name) ?? 'unknown';
}

function amountOf(value: unknown): number | undefined {
  const amount = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof amount === 'number' && Number.isFinite(amount) && amount >= 0 ? amount : undefined;
}

/** A bound that is not text is unreadable and cannot be enforced: it stays, and makes the key unusable. */
function bound(value: unknown): string | undefined {
  return value === undefined || value === null || value === '' ? undefined : String(value);
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(text).filter((entry) => entry !== undefined) : [];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function unreadable(what: string): ProtocolError {
  return new ProtocolError('NET_DOWNSTREAM_UNAVAILABLE', `The registry's answer cannot be read: ${what}.`);
}
