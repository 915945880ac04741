import { attempt } from '../../attempt.ts';
import { ProtocolError } from '../../protocol/errors.ts';
import { identityOf, namesIdentity } from '../../protocol/identity.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json.ts';
import { parsePublicKey } from '../../protocol/keys.ts';
import type { KeyLookup, ParticipantRecord } from '../../protocol/registry-record.ts';
import { claimedKeyOf, verifyDocument } from '../../protocol/signed-document.ts';
import { type HostedDocument, TrustFault, type TrustFaultCode } from './faults.ts';

// Finds the signer of a hosted document (self-hosted spec: Authentication). The registry's answer about the node's keys is the only anchor of trust.

export interface HostingNode {
  identity: string;
  /** `details.subscriber_id` of its registry record. */
  recordSubscriberId?: string;
  registryName: string;
  /** Record ids of keys that its manifest has under other names, by those names. */
  keyNames?: ReadonlyMap<string, string>;
}

/** A manifest may rename keys of the registry. Such a name counts if a registry record of the node has its key, and no record has that name. */
export function keyNamesOf(manifest: JsonObject, records: readonly ParticipantRecord[]): Map<string, string> {
  const named = records.filter(({ recordId }) => recordId !== '');
  const recordIds = new Map(named.map((record) => [rawKey(record.signingPublicKey), record.recordId]));
  const taken = new Set(records.flatMap(({ recordId, recordName }) => [recordId, recordName]));
  const names = new Map<string, string>();
  for (const key of Array.isArray(manifest.keys) ? manifest.keys : []) {
    const { kid, x } = isJsonObject(key) ? key : {};
    const raw = typeof x === 'string' ? rawKey(x) : undefined;
    const recordId = raw === undefined ? undefined : recordIds.get(raw);
    if (typeof kid === 'string' && recordId !== undefined && !taken.has(kid)) names.set(kid, recordId);
  }
  return names;
}

function rawKey(text: string | undefined): string | undefined {
  return attempt(() => parsePublicKey(text ?? '').export({ format: 'jwk' }).x);
}

/** The registry's answers about the claimed record ids. "Unavailable" is a value: documents signed with other keys need not wait. */
export type Keys = ReadonlyMap<string, KeyAnswer>;
export type KeyAnswer = KeyLookup | { kind: 'unavailable'; reason: string };

/** The record id of the key that a document claims, for the lookup; undefined if it claims none. */
export function claimedRecordId(document: JsonObject): string | undefined {
  return attempt(() => splitKeyId(claimedKeyOf(document)).recordId);
}

/** Returns the registry's record id of the key that signed the document as received. */
export function verifySigner(kind: HostedDocument, document: JsonObject, node: HostingNode, keys: Keys) {
  const { subscriberId, recordId } = splitKeyId(claimed(kind, document));
  if (subscriberId !== undefined && identityOf(subscriberId, node.registryName) !== node.identity) {
    const message = `The ${kind} is signed with a key of ${subscriberId}, not of ${node.identity}.`;
    throw new TrustFault(kind, 'key-foreign', message);
  }
  const lookup: KeyAnswer = keys.get(recordId) ?? { kind: 'unknown-key' };
  if (lookup.kind !== 'key') throw unusable(kind, recordId, node, lookup);
  try {
    verifyDocument(document, lookup.publicKey);
    return lookup.record.recordId;
  } catch (error) {
    const message = `The signature of the ${kind} does not match its content and the key ${recordId} of ${node.identity}.`;
    throw new TrustFault(kind, 'signature-invalid', message, { cause: error });
  }
}

/** Whether a name in a document (nodeId, bppId, subscriber_id) is the node's. */
export function namesNode(name: string, { identity, recordSubscriberId, registryName }: HostingNode) {
  return namesIdentity(name, identity, recordSubscriberId, registryName);
}

/** Deployed publishers also write keys as requests do: `subscriberId|recordId|ed25519`. */
function splitKeyId(keyId: string): { subscriberId?: string; recordId: string } {
  const [subscriberId = '', recordId = '', algorithm, ...more] = keyId.split('|');
  return algorithm?.toLowerCase() === 'ed25519' && more.length === 0
    ? { subscriberId, recordId }
    : { recordId: keyId };
}

function claimed(kind: HostedDocument, document: JsonObject): string {
  try {
    return claimedKeyOf(document);
  } catch (cause) {
    const isMissing = cause instanceof ProtocolError && cause.code === 'AUT_SIGNATURE_MISSING';
    throw isMissing
      ? new TrustFault(kind, 'signature-missing', `The ${kind} is not signed.`, { cause })
      : new TrustFault(kind, 'signature-invalid', `The signature of the ${kind} cannot be read.`, { cause });
  }
}

function unusable(
  kind: HostedDocument,
  recordId: string,
  { identity }: HostingNode,
  lookup: Exclude<KeyAnswer, { kind: 'key' }>,
): TrustFault {
  const signed = `The ${kind} is signed with ${recordId}`;
  const reason = 'reason' in lookup && lookup.reason !== undefined ? lookup.reason : '';
  const faults: Record<typeof lookup.kind, [TrustFaultCode, string]> = {
    unavailable: [
      'registry-unavailable',
      `${signed} of ${identity}, for which the registry could not be queried: ${reason}`,
    ],
    unusable: ['key-unusable', `${signed} of ${identity}, but ${reason}.`],
    'unknown-key': [
      'key-unknown',
      `${signed}, which the registry does not know as a key of ${identity}${reason && `: ${reason}`}.`,
    ],
    'unknown-subscriber': [
      'node-unknown',
      `The ${kind} is one of ${identity}, which the registry does not know.`,
    ],
  };
  return new TrustFault(kind, ...faults[lookup.kind]);
}
