import { gunzipSync } from 'node:zlib';
import { hasCode } from '../../error-code.ts';
import { sha256Digest, sha256Matches } from '../../protocol/digest.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../protocol/json.ts';
import { type HostedDocument, TrustFault } from './faults.ts';

// From the bytes of a hosted file to its JSON: digest, gzip, JSON, in this order. The first bytes show a gzip; the digest may be of either form.

export interface ServedFile {
  url: string;
  wire: Uint8Array;
  /** They have the Content-Encoding gzip, which was added for transport. */
  isEncoded?: boolean;
}

/** How many bytes it will have when opened, as the end of the gzip data claims. The claim may be made up, and covers only the last part. */
export function claimedBytes({ wire, isEncoded }: ServedFile): number {
  if (!isEncoded && !isGzip(wire)) return wire.length;
  const end = Buffer.from(wire.buffer, wire.byteOffset, wire.byteLength).subarray(-4);
  return Math.max(wire.length, end.length === 4 ? end.readUInt32LE() : 0);
}

export interface OpenOptions {
  maxInflatedBytes: number;
  digest?: string;
}

/** Only `openDocument` can make these values. */
const opened = Symbol('opened');

export interface OpenedDocument {
  readonly url: string;
  readonly document: JsonObject;
  /** The declared digest, which matches the bytes. */
  readonly digest: string | undefined;
  readonly [opened]: true;
}

export function openDocument(kind: HostedDocument, file: ServedFile, options: OpenOptions): OpenedDocument {
  const { url, wire, isEncoded } = file;
  const { digest, maxInflatedBytes } = options;
  const body = isEncoded ? inflate(kind, url, wire, maxInflatedBytes) : wire;
  const bytes = isGzip(body) ? inflate(kind, url, body, maxInflatedBytes) : body;
  if (digest !== undefined && ![bytes, body, wire].some((candidate) => sha256Matches(digest, candidate))) {
    const message = `The ${kind} at ${url} does not have the digest ${digest} declared for it.`;
    const compared = { expected: digest, got: sha256Digest(bytes) };
    throw new TrustFault(kind, 'digest-mismatch', message, { compared });
  }
  const document = parse(kind, url, bytes);
  if (!isJsonObject(document))
    throw new TrustFault(kind, 'malformed', `The ${kind} at ${url} is not an object.`);
  return { url, document, digest, [opened]: true };
}

export function openInline(url: string, document: JsonObject): OpenedDocument {
  return { url, document, digest: undefined, [opened]: true };
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function inflate(kind: HostedDocument, url: string, bytes: Uint8Array, maxOutputLength: number): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength });
  } catch (error) {
    const isTooLarge = hasCode(error, 'ERR_BUFFER_TOO_LARGE');
    const problem = isTooLarge ? `inflates to more than ${maxOutputLength} bytes` : 'is not valid gzip';
    const code = isTooLarge ? 'inflates-too-large' : 'not-gzip';
    throw new TrustFault(kind, code, `The ${kind} at ${url} ${problem}.`, { cause: error });
  }
}

function parse(kind: HostedDocument, url: string, bytes: Uint8Array): Json {
  try {
    return parseJson(bytes);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The ${kind} at ${url} cannot be read: ${reason}.`;
    throw new TrustFault(kind, 'not-json', message, { cause: error });
  }
}
