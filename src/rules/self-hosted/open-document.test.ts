import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { served } from '../../../tests/support/hosted/hosted-node.ts';
import { sha256Digest } from '../../protocol/digest.ts';
import { openDocument } from './open-document.ts';

const url = 'https://bpp.example.org/catalogs/1.json.gz';
const plain = Buffer.from('{"catalogId":"catalog-1"}');
const zipped = gzipSync(plain);
const maxInflatedBytes = 1000;
const fault = (code: string) => expect.objectContaining({ name: 'TrustFault', document: 'baseline', code });

function open(bytes: Uint8Array, digest?: string) {
  return openDocument('baseline', served(url, bytes), { digest, maxInflatedBytes }).document;
}

describe('a hosted file', () => {
  it('is read plain and gzipped, whatever its name says', () => {
    expect(open(plain)).toEqual({ catalogId: 'catalog-1' });
    expect(open(zipped)).toEqual({ catalogId: 'catalog-1' });
  });

  it.each([
    ['the decompressed bytes', sha256Digest(plain)],
    ['the bytes served', sha256Digest(zipped)],
    ['either, as sha-256: and in upper case', sha256Digest(plain).replace('sha256', 'SHA-256').toUpperCase()],
  ])('has the digest of %s', (_what, digest) => {
    expect(open(zipped, digest)).toEqual({ catalogId: 'catalog-1' });
  });

  it('has the digest of the bytes on the wire where the host compressed them on the way', () => {
    const file = { url, wire: zipped, isEncoded: true };
    expect(
      openDocument('baseline', file, { digest: sha256Digest(zipped), maxInflatedBytes }).document,
    ).toEqual({ catalogId: 'catalog-1' });
  });

  it('digest-mismatch: with another digest than the declared one is discarded before it is read', () => {
    expect(() => open(Buffer.from('{"catalogId":"catalog-2"}'), sha256Digest(plain))).toThrow(
      fault('digest-mismatch'),
    );
    expect(() => open(Buffer.from('<html>'), sha256Digest(plain))).toThrow(fault('digest-mismatch'));
  });

  it('not-gzip: that begins like gzip and is none is discarded', () => {
    expect(() => open(zipped.subarray(0, 15))).toThrow(fault('not-gzip'));
  });

  it('inflates-too-large: that would inflate beyond the limit is discarded', () => {
    expect(() => open(gzipSync(Buffer.alloc(maxInflatedBytes + 1, 32)))).toThrow(fault('inflates-too-large'));
  });

  it.each([
    ['<html>', 'not-json'],
    ['{"a":1,"a":2}', 'not-json'],
    ['', 'not-json'],
    ['[]', 'malformed'],
    ['null', 'malformed'],
  ])('%s is %s', (text, code) => {
    expect(() => open(Buffer.from(text))).toThrow(fault(code));
  });
});
