import type { KeyObject } from 'node:crypto';
import { attempt } from '../../attempt.ts';
import { identityOf } from '../../protocol/identity.ts';
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts';
import { parsePublicKey } from '../../protocol/keys.ts';
import { type ParticipantRecord, unusableReason } from '../../protocol/registry-record.ts';
import { verifyDocument } from '../../protocol/signed-document.ts';
import type { HostedDocument } from '../../rules/self-hosted/faults.ts';
import { claimedRecordId } from '../../rules/self-hosted/signer.ts';
import { askRegistry, fetchDocument } from '../crawl/reader.ts';
import { isReadingFault } from '../crawl/reasons.ts';
import type { Examination } from './examine-node.ts';
import { complaint, type Finding, warning } from './findings.ts';

// The most common reason why nothing of a node verifies: the signing key is not the registered one. Then the owner of the signing key is named: this
// machine, the manifest, or the registry under another name.

/** A signing key of this machine; only its public half. */
export interface LocalKey {
  id: string;
  keyId: string;
  /** Undefined if the seed is unreadable. */
  publicKey?: string;
  place: string;
  /** New signatures are made with this key. */
  isInUse: boolean;
}

/** Adds the signing key to each complaint about a wrong key, and warns of future signatures with a wrong one. */
export async function* nameSigners(
  findings: AsyncIterable<Finding>,
  { exam, identity, localKeys }: { exam: Examination; identity: string; localKeys: readonly LocalKey[] },
): AsyncGenerator<Finding> {
  const own = localKeys.filter(({ id }) => identityOf(id, exam.policy.registryName) === identity);
  const seen: SeenPlaces = { indexes: new Set() };
  let isNamed = false;
  for await (const finding of findings) {
    const { document, url } = finding;
    if (document === 'manifest' && url !== undefined) seen.manifest = url;
    if (document === 'index' && url !== undefined) seen.indexes.add(url);
    const named = await nameSigner(exam, identity, finding, seen, own);
    isNamed ||= named !== undefined;
    yield named ?? finding;
  }
  if (!isNamed) yield* examineLocalKeys(exam, identity, own);
}

interface SeenPlaces {
  manifest?: string;
  indexes: Set<string>;
}

async function nameSigner(
  exam: Examination,
  identity: string,
  finding: Finding,
  seen: SeenPlaces,
  localKeys: readonly LocalKey[],
): Promise<Finding | undefined> {
  if (finding.kind !== 'fault' || !keyFaults.includes(finding.code)) return undefined;
  const records = await askRegistry(() => exam.registry.listRecords(identity));
  const manifest = seen.manifest && (await open(exam, 'manifest', seen.manifest));
  const known = knownKeys(records, manifest || {}, localKeys);
  for await (const [kind, document] of documentsOf(exam, finding, seen)) {
    const name = claimedRecordId(document);
    const signers = known.filter(({ key }) => holdsFor(document, key));
    const [signer] = signers;
    if (name === undefined || !signer) continue;
    const registered = records.find(({ recordId, recordName }) => recordId === name || recordName === name);
    if (registered && signer.publicKey === rawKey(registered.signingPublicKey)) continue;
    const places = signers.map(({ place }) => place).join('; ');
    const has = registered
      ? `has ${rawKey(registered.signingPublicKey) ?? 'no usable Ed25519 key'} under ${name}`
      : `has no key of that name, but ${records.map(nameRecord).join(', ')}`;
    const message = `The ${kind} is signed as ${name} with ${signer.publicKey} (${places}); the registry ${has}.`;
    const { document: about, catalogId, url } = finding;
    return complaint('fault', { document: about, catalogId, url }, 'key-mismatch', message);
  }
  return undefined;
}

const keyFaults: readonly string[] = ['signature-invalid', 'key-unknown'];
const maxFilesOpened = 20;

/** The documents behind a complaint, opened but not trusted. */
async function* documentsOf(
  exam: Examination,
  { document, url, catalogId }: Finding,
  { indexes }: SeenPlaces,
): AsyncGenerator<[HostedDocument, JsonObject]> {
  if (document === 'manifest' || document === 'record' || document === 'index') {
    const opened = url && (await open(exam, document, url));
    if (opened) yield [document, opened];
    return;
  }
  for (const index of document === 'entry' && url ? [url] : indexes) {
    const { catalogs } = (await open(exam, 'index', index)) ?? {};
    const entry = objects(catalogs).find((one) => one.catalogId === catalogId);
    if (!entry) continue;
    if (document === 'entry') yield ['entry', entry];
    else yield* filesOf(exam, entry);
  }
}

async function* filesOf(exam: Examination, entry: JsonObject): AsyncGenerator<[HostedDocument, JsonObject]> {
  const baseline = isJsonObject(entry.baseline) ? [entry.baseline] : [];
  const files = [...baseline, ...objects(entry.changes)].slice(0, maxFilesOpened);
  for (const [index, { url }] of files.entries()) {
    const kind = index < baseline.length ? 'baseline' : 'change';
    const opened = typeof url === 'string' ? await open(exam, kind, url) : undefined;
    if (opened) yield [kind, opened];
  }
}

/** Undefined if it is unavailable: the complaint stays unchanged. */
async function open({ reader, signal }: Examination, kind: HostedDocument, url: string) {
  try {
    const answer = await fetchDocument(reader, kind, url, { maxBytes: reader.limits.maxIndexBytes, signal });
    return answer.kind === 'opened' ? answer.opened.document : undefined;
  } catch (error) {
    if (isReadingFault(error)) return undefined;
    throw error;
  }
}

/** Possible signing keys: their 32 raw bytes in Base64, and their owner in words. */
function knownKeys(
  records: readonly ParticipantRecord[],
  manifest: JsonObject,
  localKeys: readonly LocalKey[],
) {
  const named = [
    ...localKeys.map(({ publicKey: text, keyId, place }) => ({
      text,
      place: `${keyId} of this machine, ${place}`,
    })),
    ...objects(manifest.keys).map(({ kid, x }) => ({ text: x, place: `${kid} in its manifest` })),
    ...records.map(({ signingPublicKey: text, recordId }) => ({
      text,
      place: `${recordId} in the registry`,
    })),
  ];
  return named.flatMap(({ text, place }) => {
    const publicKey = rawKey(text);
    return publicKey === undefined ? [] : [{ key: parsePublicKey(publicKey), publicKey, place }];
  });
}

/** Existing files were signed before; the next ones are signed with this key. */
async function* examineLocalKeys(
  { registry, now }: Examination,
  identity: string,
  localKeys: readonly LocalKey[],
): AsyncGenerator<Finding> {
  const inUse = localKeys.find((key) => key.isInUse && key.publicKey !== undefined);
  if (!inUse) return;
  const records = await askRegistry(() => registry.listRecords(identity));
  const { keyId, publicKey, place } = inUse;
  const registered = records.find(({ recordId, recordName }) => recordId === keyId || recordName === keyId);
  const unusable = registered && unusableReason(registered, now);
  if (unusable === undefined && rawKey(registered?.signingPublicKey) === publicKey) return;
  const has = unusable ?? `the registry has ${registered ? nameRecord(registered) : `no ${keyId}`}`;
  const message = `This machine signs as ${keyId} with ${publicKey} (${place}), but ${has}.`;
  yield warning({ document: 'registry' }, 'local-key-differs', message);
}

function nameRecord({ recordId, signingPublicKey, state }: ParticipantRecord): string {
  const without = state === 'live' ? 'no usable Ed25519 key' : state;
  return `${recordId} (${rawKey(signingPublicKey) ?? without})`;
}

function holdsFor(document: JsonObject, key: KeyObject): boolean {
  return attempt(() => verifyDocument(document, key)) !== undefined;
}

function rawKey(text: unknown): string | undefined {
  const key = typeof text === 'string' ? attempt(() => parsePublicKey(text)) : undefined;
  return key && Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64');
}

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
