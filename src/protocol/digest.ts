import { createHash, hash } from 'node:crypto';
import { findBase64 } from './base64.ts';
import type { WireProfile } from './signed-document.ts';

const bodyDigestLabel = 'BLAKE-512=';
/** Some peers use this label for the same hash. Accepted, never written. */
const otherBodyDigestLabel = 'BLAKE2b-512=';

/** The `digest` of a request signature and of `context.requestDigest` (catalog spec: Authentication, Context). */
export function bodyDigest(body: Uint8Array): string {
  return bodyDigestLabel + hash('blake2b512', body, 'base64');
}

export interface BodyDigest {
  update(bytes: Uint8Array | string): void;
  /** A digest that continues separately from here: bodies with the same beginning digest it only once. */
  copy(): BodyDigest;
  digest(): string;
}

export function createBodyDigest(hashing = createHash('blake2b512')): BodyDigest {
  return {
    update: (bytes) => void hashing.update(bytes),
    copy: () => createBodyDigest(hashing.copy()),
    digest: () => bodyDigestLabel + hashing.digest('base64'),
  };
}

/** A foreign digest in the spelling of `bodyDigest`; undefined if it is none. */
export function findBodyDigest(text: string): string | undefined {
  const label = [bodyDigestLabel, otherBodyDigestLabel].find((known) => text.startsWith(known));
  if (label === undefined) return undefined;
  const encoded = text.slice(label.length);
  return findBase64(encoded)?.length === 64 ? bodyDigestLabel + encoded : undefined;
}

/** The texts that a signer may have signed for a digest of `bodyDigest`, the usual one first. */
export function spellingsOfBodyDigest(digest: string): string[] {
  return [digest, digest.replace(bodyDigestLabel, otherBodyDigestLabel)];
}

/** The digest of files and downloads (self-hosted spec: Catalog index; catalog spec: Other shapes). */
export function sha256Digest(bytes: Uint8Array): string {
  return `sha256:${hash('sha256', bytes, 'hex')}`;
}

export function labelSha256(hex: string, profile: WireProfile): string {
  return `${profile === 'nfh014' ? 'sha-256' : 'sha256'}:${hex}`;
}

/** Deployed publishers also write `sha-256:` and upper-case digits; both mean the same bytes. */
export function sha256Matches(declared: string, bytes: Uint8Array): boolean {
  return declared.toLowerCase().replace(/^sha-256:/, 'sha256:') === sha256Digest(bytes);
}
