import { type KeyObject, verify } from 'node:crypto';
import { type BodyVariant, digestVariants } from './body-variants.ts';
import { bodyDigest, findBodyDigest, spellingsOfBodyDigest } from './digest.ts';
import { ProtocolError } from './errors.ts';
import type { KeyLookup } from './registry-record.ts';
import {
  chainValues,
  findWindowFault,
  parseSignatureHeader,
  type SignatureHeader,
  type SignatureLimits,
  signingString,
} from './request-signature.ts';

// Explains why a signature fails: each step of the verification, and the one difference. A signature does not show which body was signed, so this tries the usual changes of bodies.

export interface SignatureQuestion {
  /** The header's value, the header, or all headers of a request. */
  header: string;
  body: string;
  now: Date;
  limits: SignatureLimits;
  requestAuthorization?: string;
}

interface DebugStep {
  step: 'header' | 'algorithm' | 'window' | 'digest' | 'key' | 'signature';
  ok: boolean;
  expected?: string;
  got?: string;
  detail: string;
}

export interface SignatureDiagnosis {
  verdict: 'holds' | 'differs' | 'unreadable';
  differs?: string;
  steps: DebugStep[];
  signingString: string;
  digest: { expected?: string; got: string };
  hints: string[];
}

export interface KnownKeys {
  lookup: KeyLookup | { kind: 'unavailable'; reason: string };
  others: readonly { name: string; publicKey: KeyObject }[];
}

function readPastedHeaders(text: string): { signature: string; digest?: string } {
  const lines = text.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  const find = (name: string) =>
    lines
      .find((line) => line.toLowerCase().startsWith(`${name}:`))
      ?.replace(/^[^:]*:\s*/, '')
      .trim();
  const signature =
    find('authorization') ?? find('x-gateway-authorization') ?? find('signature') ?? text.trim();
  const digest = find('digest');
  return { signature, ...(digest !== undefined && { digest }) };
}

/** Undefined if the header cannot be read: then the key is unknown. */
export function findClaimedKey(header: string): SignatureHeader | undefined {
  try {
    return parseSignatureHeader(readPastedHeaders(header).signature);
  } catch (error) {
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
}

export function debugSignature(question: SignatureQuestion, keys: KnownKeys): SignatureDiagnosis {
  const { signature: value, digest: declared } = readPastedHeaders(question.header);
  const got = bodyDigest(Buffer.from(question.body));
  const header = findClaimedKey(question.header);
  if (!header) return unreadable(value, got);
  const chain = chainOf(question);
  const text = (digest: string) =>
    signingString({ ...header, digest, answering: header.chained ? (chain[0] ?? '') : undefined }).toString();
  const claim = { header, chain };
  const { lookup } = keys;
  const key = lookup.kind === 'key' ? lookup.publicKey : undefined;
  const found = findSigned(claim, { body: question.body, digest: got }, key, keys.others);
  const expected = found?.digest ?? (declared && (findBodyDigest(declared) ?? declared));
  const steps: DebugStep[] = [
    { step: 'header', ok: true, detail: 'It has the form that the specification requires.' },
    { step: 'algorithm', ok: true, got: 'ed25519', detail: 'Ed25519, in keyId and algorithm.' },
    windowStep(header, question),
    digestStep(got, expected, found?.change),
    keyStep(header, lookup),
    signatureStep(claim, found, key !== undefined),
  ];
  const failed = steps.find(({ ok }) => !ok);
  return {
    verdict: failed ? 'differs' : 'holds',
    ...(failed && { differs: failed.detail }),
    steps,
    signingString: text(expected ?? got),
    digest: { ...(expected !== undefined && { expected }), got },
    hints: hintsOf(steps, claim, found),
  };
}

function chainOf({ requestAuthorization }: SignatureQuestion): string[] {
  if (requestAuthorization === undefined || requestAuthorization.trim() === '') return [];
  try {
    return chainValues(readPastedHeaders(requestAuthorization).signature);
  } catch (error) {
    if (error instanceof ProtocolError) return [requestAuthorization.trim()];
    throw error;
  }
}

interface Claim {
  header: SignatureHeader;
  chain: readonly string[];
}

interface Signed {
  digest: string;
  change?: string;
  signer?: string;
  /** The signature has a fourth line although the header does not list it, or the reverse. */
  hasOtherLines?: boolean;
}

const maxOtherKeys = 20;

/** Body variants are tried with the claimed key only; other keys with the unchanged body only. */
function findSigned(
  { header, chain }: Claim,
  { body, digest }: { body: string; digest: string },
  key: KeyObject | undefined,
  others: KnownKeys['others'],
): Signed | undefined {
  const signature = Buffer.from(header.signature, 'base64');
  const usual = header.chained ? chain : [undefined];
  const unusual = header.chained ? [undefined] : chain;
  const holds = (publicKey: KeyObject, digest: string, answering: readonly (string | undefined)[]) =>
    spellingsOfBodyDigest(digest).some((spelling) =>
      answering.some((line) =>
        verify(null, signingString({ ...header, digest: spelling, answering: line }), publicKey, signature),
      ),
    );
  const find = (publicKey: KeyObject, variants: readonly BodyVariant[], signer?: string) => {
    for (const hasOtherLines of [false, true]) {
      const lines = hasOtherLines ? unusual : usual;
      const match = variants.find(({ digest }) => holds(publicKey, digest, lines));
      if (match) return { ...match, signer, hasOtherLines };
    }
    return undefined;
  };
  const asItIs = [{ digest }];
  const claimed = key && (find(key, asItIs) ?? find(key, digestVariants(body)));
  if (claimed) return claimed;
  for (const { name, publicKey } of others.slice(0, maxOtherKeys)) {
    const found = find(publicKey, asItIs, name);
    if (found) return found;
  }
  return undefined;
}

function windowStep(header: SignatureHeader, { now, limits }: SignatureQuestion): DebugStep {
  const fault = findWindowFault(header, now.getTime() / 1000, limits);
  const iso = (seconds: number) => new Date(Math.min(seconds * 1000, 8.64e15)).toISOString();
  return {
    ...{ step: 'window', ok: fault === undefined },
    expected: `${iso(header.created)} to ${iso(header.expires)}`,
    got: now.toISOString(),
    detail: fault === undefined ? 'The time is between created and expires.' : `The signature ${fault}.`,
  };
}

function digestStep(got: string, expected: string | undefined, change: string | undefined): DebugStep {
  const step = { step: 'digest', ok: false, got, ...(expected !== undefined && { expected }) } as const;
  if (change !== undefined) return { ...step, detail: `The body is not the one that was signed: ${change}.` };
  if (expected !== undefined && expected !== got)
    return { ...step, detail: 'The body does not have the digest that the Digest header names.' };
  return { ...step, ok: true, detail: 'BLAKE2b-512 of the body, in Base64.' };
}

function keyStep({ subscriberId, recordId }: SignatureHeader, lookup: KnownKeys['lookup']): DebugStep {
  const name = `${subscriberId}|${recordId}`;
  const details: Record<KnownKeys['lookup']['kind'], string> = {
    key: `The registry has the key ${recordId} of ${subscriberId}.`,
    unusable: `The key ${name} cannot be used: ${'reason' in lookup ? lookup.reason : ''}.`,
    'unknown-key': `The registry has no key ${recordId} of ${subscriberId}.`,
    'unknown-subscriber': `The registry does not know ${subscriberId}.`,
    unavailable: `The registry cannot be queried: ${'reason' in lookup ? lookup.reason : ''}`,
  };
  return { step: 'key', ok: lookup.kind === 'key', got: name, detail: details[lookup.kind] };
}

function signatureStep({ header, chain }: Claim, found: Signed | undefined, hasKey: boolean): DebugStep {
  const fails = (detail: string): DebugStep => ({ step: 'signature', ok: false, detail });
  if (header.chained && chain.length === 0)
    return fails(
      'It answers a request: without the Authorization header of that request it cannot be verified.',
    );
  if (found?.signer !== undefined)
    return fails(`It was made with ${found.signer}, not with the key that keyId names.`);
  if (found?.hasOtherLines)
    return fails(
      header.chained
        ? 'It was made over three lines, without the request-signature that "headers" names.'
        : 'It was made over four lines, but "headers" does not name request-signature.',
    );
  if (found?.change !== undefined) return fails('It is valid for another body.');
  if (found) return { step: 'signature', ok: true, detail: 'The Ed25519 signature is valid.' };
  if (!hasKey) return fails('Without the key it cannot be verified.');
  return fails(
    'It is not valid for this signing string and this key: the body, created, expires or the signature itself were changed, or another key was used.',
  );
}

function hintsOf(steps: readonly DebugStep[], { header }: Claim, found: Signed | undefined): string[] {
  const fails = (step: DebugStep['step']) => steps.some((each) => each.step === step && !each.ok);
  const hints = [
    found?.change !== undefined &&
      'Sign the bytes that are sent, and verify the bytes that were received: never parse and write the body in between.',
    found?.signer !== undefined && 'Put the id of that key into keyId, or sign with the registered one.',
    fails('key') &&
      'Register the public key under this record id, or correct keyId: subscriberId|recordId|ed25519.',
    fails('window') && 'Compare the clocks of both machines (NTP), and sign again right before sending.',
    fails('signature') &&
      !found &&
      header.chained &&
      'A callback signs the text of the signature of the request that it answers, or its whole header.',
    fails('signature') &&
      !found &&
      'Compare the signing string line by line with that of the signer: no line end after the last line, Unix times in seconds, Base64 with padding.',
  ];
  return hints.filter((hint) => typeof hint === 'string');
}

const attributeNames = ['keyId', 'algorithm', 'created', 'expires', 'headers', 'signature'];

function unreadable(value: string, got: string): SignatureDiagnosis {
  const found = [...value.matchAll(/([A-Za-z]+)="([^"]*)"/g)];
  const attribute = (wanted: string) => found.find(([, name]) => name === wanted)?.[2];
  const missing = attributeNames.filter((name) => attribute(name) === undefined);
  const algorithm = attribute('algorithm') ?? '';
  const parts = attribute('keyId')?.split('|').length ?? 0;
  const why = (() => {
    if (!/^Signature /.test(value)) return 'It does not begin with "Signature " and a space.';
    if (missing.length > 0) return `It lacks ${missing.join(', ')}, or they are not in double quotes.`;
    if (parts !== 3) return 'keyId must be subscriberId|recordId|ed25519.';
    if (algorithm !== 'ed25519') return `algorithm is ${algorithm}; it must be ed25519.`;
    if (Buffer.from(attribute('signature') ?? '', 'base64').length !== 64)
      return 'The signature is not the Base64 of 64 bytes.';
    return `Its attributes must be ${attributeNames.join(', ')}, in this order, with a comma and no space between them, the times in whole seconds.`;
  })();
  const step = algorithm !== '' && algorithm !== 'ed25519' ? 'algorithm' : 'header';
  return {
    ...{ verdict: 'unreadable', differs: why, signingString: '', digest: { got } },
    steps: [{ step, ok: false, got: value.slice(0, 500), detail: why }],
    hints: [
      'Signature keyId="subscriberId|recordId|ed25519",algorithm="ed25519",created="…",expires="…",headers="(created) (expires) digest",signature="…"',
    ],
  };
}
