import { ProtocolError } from '../../protocol/errors.ts';
import { identityOf, namesIdentity } from '../../protocol/identity.ts';
import type { JsonObject } from '../../protocol/json.ts';
import type { KeyLookup } from '../../protocol/registry-record.ts';
import { claimedKeyOf, verifyDocument } from '../../protocol/signed-document.ts';
import { type HostedDocument, TrustFault } from './faults.ts';

// Who signed a hosted document (self-hosted spec: Authentication). The registry's word on the node's keys is the only anchor:
// whoever reads asks it for the keys that documents claim, and hands over the answers.

/** The node whose documents these are. */
export interface HostingNode {
  /** `namespace/registry`. */
  identity: string;
  /** `details.subscriber_id` of its registry record. */
  recordSubscriberId?: string;
  /** The registry that a bare domain belongs to. */
  registryName: string;
}

/** What the registry says about the record ids that documents claim to be signed with. */
export type Keys = ReadonlyMap<string, KeyLookup>;

/** The record id of the key that a document claims, so that it can be looked up; undefined where it claims none. */
export function claimedRecordId(document: JsonObject): string | undefined {
  try {
    return splitKeyId(claimedKeyOf(document)).recordId;
  } catch {
    return undefined;
  }
}

/** Returns the record id of the key that signed the document as received. */
export function verifySigner(
  kind: HostedDocument,
  document: JsonObject,
  node: HostingNode,
  keys: Keys,
): string {
  const { subscriberId, recordId } = splitKeyId(claimed(kind, document));
  if (subscriberId !== undefined && identityOf(subscriberId, node.registryName) !== node.identity) {
    throw new TrustFault(
      kind,
      'key-foreign',
      `The ${kind} is signed with a key of ${subscriberId}, not of ${node.identity}.`,
    );
  }
  const lookup = keys.get(recordId) ?? { kind: 'unknown-key' };
  if (lookup.kind !== 'key') throw unusable(kind, recordId, node, lookup);
  try {
    verifyDocument(document, lookup.publicKey);
    return recordId;
  } catch (error) {
    throw new TrustFault(
      kind,
      'signature-invalid',
      `The signature of the ${kind} does not match its content and the key ${recordId} of ${node.identity}.`,
      error,
    );
  }
}

/** Whether a name in a document (nodeId, bppId, subscriber_id) is the node's. */
export function namesNode(
  name: string,
  { identity, recordSubscriberId, registryName }: HostingNode,
): boolean {
  return namesIdentity(name, identity, recordSubscriberId, registryName);
}

/** Deployed publishers also name a key as requests do: `subscriberId|recordId|ed25519`. */
function splitKeyId(keyId: string): { subscriberId?: string; recordId: string } {
  const [subscriberId = '', recordId = '', algorithm, ...more] = keyId.split('|');
  return algorithm?.toLowerCase() === 'ed25519' && more.length === 0
    ? { subscriberId, recordId }
    : { recordId: keyId };
}

function claimed(kind: HostedDocument, document: JsonObject): string {
  try {
    return claimedKeyOf(document);
  } catch (error) {
    const isMissing = error instanceof ProtocolError && error.code === 'AUT_SIGNATURE_MISSING';
    throw isMissing
      ? new TrustFault(kind, 'signature-missing', `The ${kind} is not signed.`, error)
      : new TrustFault(kind, 'signature-invalid', `The signature of the ${kind} cannot be read.`, error);
  }
}

function unusable(
  kind: HostedDocument,
  recordId: string,
  { identity }: HostingNode,
  lookup: Exclude<KeyLookup, { kind: 'key' }>,
): TrustFault {
  switch (lookup.kind) {
    case 'unusable':
      return new TrustFault(
        kind,
        'key-unusable',
        `The ${kind} is signed with ${recordId} of ${identity}, but ${lookup.reason}.`,
      );
    case 'unknown-key':
      return new TrustFault(
        kind,
        'key-unknown',
        `The ${kind} is signed with ${recordId}, which the registry does not know as a key of ${identity}${
          lookup.reason === undefined ? '' : `: ${lookup.reason}`
        }.`,
      );
    case 'unknown-subscriber':
      return new TrustFault(
        kind,
        'node-unknown',
        `The ${kind} is one of ${identity}, whom the registry does not know.`,
      );
  }
}
