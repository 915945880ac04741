import { gunzipSync } from 'node:zlib';
import { sha256Matches } from '../../protocol/digest.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../protocol/json.ts';
import { type HostedDocument, TrustFault } from './faults.ts';

// From the bytes of a hosted file to the JSON document in it: digest, gzip, JSON, in this order. What comes out is not
// trusted yet, but its bytes are those that were declared, where something declared them.
//
// A gzipped file is told by its first bytes: its suffix, or an `encoding` beside its URL, says the same where it is true. Its
// digest may be of the bytes served or of the decompressed ones: both name one content.

export interface ServedFile {
  url: string;
  /** As they came over the wire, and without a Content-Encoding that was put on the way. */
  wire: Uint8Array;
  body: Uint8Array;
}

export interface OpenOptions {
  maxInflatedBytes: number;
  /** As declared by the document that names this one. */
  digest?: string;
}

/** Nobody else can make what `openDocument` returns. */
const opened = Symbol('opened');

export interface OpenedDocument {
  readonly url: string;
  readonly document: JsonObject;
  /** The declared digest that the bytes have. */
  readonly digest: string | undefined;
  readonly [opened]: true;
}

export function openDocument(kind: HostedDocument, file: ServedFile, options: OpenOptions): OpenedDocument {
  const { url, wire, body } = file;
  const { digest, maxInflatedBytes } = options;
  const bytes = isGzip(body) ? inflate(kind, file, maxInflatedBytes) : body;
  if (digest !== undefined && ![bytes, body, wire].some((candidate) => sha256Matches(digest, candidate))) {
    throw new TrustFault(
      kind,
      'digest-mismatch',
      `The ${kind} at ${url} does not have the digest ${digest} that is declared for it.`,
    );
  }
  const document = parse(kind, url, bytes);
  if (!isJsonObject(document)) throw new TrustFault(kind, 'malformed', `The ${kind} at ${url} is no object.`);
  return { url, document, digest, [opened]: true };
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function inflate(kind: HostedDocument, { url, body }: ServedFile, maxOutputLength: number): Uint8Array {
  try {
    return gunzipSync(body, { maxOutputLength });
  } catch (error) {
    const tooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw tooLarge
      ? new TrustFault(
          kind,
          'inflates-too-large',
          `The ${kind} at ${url} inflates to more than ${maxOutputLength} bytes.`,
        )
      : new TrustFault(kind, 'not-gzip', `The ${kind} at ${url} is not valid gzip.`, error);
  }
}

function parse(kind: HostedDocument, url: string, bytes: Uint8Array): Json {
  try {
    return parseJson(bytes);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TrustFault(kind, 'not-json', `The ${kind} at ${url} cannot be read: ${reason}.`, error);
  }
}
