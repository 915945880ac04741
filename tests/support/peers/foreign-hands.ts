import { hash, sign } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { SigningKey } from '../../../src/protocol/keys.ts';
import type { ForgedKind, Hand } from '../hosted/forged-node.ts';
import type { Body } from '../network/actor.ts';

// The ways in which other implementations sign and write hosted files, in separate code that uses none of ours.

export interface Handwriting {
  /** The text that is signed. */
  canonical(document: Body): string;
  keyId(key: SigningKey): string;
  encoding: 'base64' | 'base64url';
}

/** Object signatures on indexes, entries and files; proofs on manifests and records. */
export function signing({ canonical, keyId, encoding }: Handwriting): Hand['sign'] {
  return (kind: ForgedKind, { signature: _signature, proof: _proof, ...content }: Body, key: SigningKey) => {
    const text = canonical(content);
    if (kind === 'manifest' || kind === 'record') {
      const jws = detachedJws(text, key);
      return { ...content, proof: { verification_method: keyId(key), canonicalization: 'JCS', jws } };
    }
    const value = sign(null, Buffer.from(text), key.privateKey).toString(encoding);
    return { ...content, signature: { keyId: keyId(key), value } };
  };
}

function detachedJws(payload: string, { privateKey }: SigningKey): string {
  const header = Buffer.from('{"alg":"EdDSA","b64":false,"crit":["b64"]}').toString('base64url');
  const value = sign(null, Buffer.from(`${header}.${payload}`), privateKey);
  return `${header}..${value.toString('base64url')}`;
}

export function jcs(document: Body): string {
  return canonicalize(document) ?? '';
}

/** As Go's json.Marshal writes a map: names sorted by UTF-8 bytes, HTML characters escaped, the sign of zero kept. */
export function goJson(value: unknown): string {
  if (Object.is(value, -0)) return '-0';
  if (Array.isArray(value)) return `[${value.map(goJson).join()}]`;
  if (typeof value !== 'object' || value === null)
    return JSON.stringify(value).replace(/[&<>\u2028\u2029]/g, asEscape);
  const names = Object.keys(value).sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  return `{${names.map((name) => `${goJson(name)}:${goJson((value as Body)[name])}`).join()}}`;
}

function asEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export function sha256(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}
