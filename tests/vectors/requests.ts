import { sign } from 'node:crypto';
import { bodyDigest } from '../../src/protocol/digest.ts';
import { parseSignatureHeader, signDigest, signRequest } from '../../src/protocol/request-signature.ts';
import { keyOf } from './keys.ts';
import { malformedHeaders, unknownKeyIds } from './malformed-headers.ts';
import { now, nowSeconds, publishBody, signedRequests } from './signed-requests.ts';

// vectors/requests.json: the header Authorization of a request.

export function requestVectors() {
  return {
    about:
      'The header Authorization of requests. `sign`: what a signer writes, byte for byte. `accept`: what a receiver takes as well. `refuse`: what it refuses, at the first of the steps presence, header, action, window, key, signature. `at` is the clock of the receiver, in Unix seconds.',
    limits: { clockSkewSeconds: 60, maxSignatureSeconds: 7_200, maxSignatureSecondsWithoutBody: 600 },
    sign: signedRequests(),
    accept: accepted(),
    refuse: [...refusedHeaders(), ...refusedWindows(), ...refusedKeys(), ...refusedSignatures()],
  };
}

interface Verification {
  name: string;
  action: string;
  method: string;
  /** Absent: the request has no such header. */
  authorization?: string;
  body: string;
  at: number;
  reason: string;
}

interface Acceptance extends Verification {
  subscriberId: string;
  recordId: string;
  /** Public key of a signer that is not in keys.json. */
  publicKey?: string;
}

interface Refusal extends Verification {
  step: 'presence' | 'header' | 'action' | 'window' | 'key' | 'signature';
  code: string;
}

const provider = keyOf('provider');
const valid = publishedFor(300);
const usual = {
  action: 'catalog/publish',
  method: 'POST',
  authorization: valid,
  body: publishBody,
  at: nowSeconds,
};
const bodiless = { action: 'catalog/subscription', method: 'GET', body: '' };

/** The publish, signed with this lifetime. */
function publishedFor(lifetimeSeconds: number): string {
  return signRequest(provider, Buffer.from(publishBody), { now, lifetimeSeconds });
}

/** The publish, signed with another text in place of the digest. */
function signedOver(digest: string): string {
  return signDigest(provider, digest, { now });
}

/** The publish, signed by another participant or under another name. */
function publishedAs(changes: Partial<typeof provider>): string {
  return signRequest({ ...provider, ...changes }, Buffer.from(publishBody), { now });
}

const digest = bodyDigest(Buffer.from(publishBody));
const digestWithoutLabel = digest.slice('BLAKE-512='.length);

function accepted(): Acceptance[] {
  const { subscriberId, recordId } = provider;
  const accept = (name: string, reason: string, changes: Partial<Acceptance>): Acceptance => {
    return { name, ...usual, subscriberId, recordId, ...changes, reason };
  };
  return [
    accept(
      'the digest under its other label, BLAKE2b-512=',
      'Some peers call the same hash so. Nobody needs to write it.',
      { authorization: signedOver(`BLAKE2b-512=${digestWithoutLabel}`) },
    ),
    accept('a signature that was created 60 seconds ahead', 'Clocks differ: 60 seconds are tolerated.', {
      at: nowSeconds - 60,
    }),
    accept('a signature in its last second', 'It expires at the second that it names, and not before.', {
      at: nowSeconds + 299,
    }),
    accept('a signature that is valid for two hours', 'That is the longest.', {
      authorization: publishedFor(7_200),
    }),
    accept(
      'the example of the Beckn signing guide',
      'Body, key and signature as printed there. Its message is one of an older protocol: only its signature counts here.',
      { action: 'discover', at: 1641287875, ...publishedExample },
    ),
  ];
}

type Refuse = (name: string, reason: string, changes?: Partial<Refusal>) => Refusal;

function refuseAt(step: Refusal['step'], code = 'AUT_SIGNATURE_INVALID'): Refuse {
  return (name, reason, changes) => ({ name, ...usual, ...changes, step, code, reason });
}

function refusedHeaders(): Refusal[] {
  const action = refuseAt('action');
  const get = signedRequests().find(({ method }) => method === 'GET');
  return [
    refuseAt('presence', 'AUT_SIGNATURE_MISSING')('no header', 'Every request is signed.', {
      authorization: undefined,
    }),
    ...malformedHeaders(valid).map(([name, authorization]) =>
      refuseAt('header')(
        name,
        'The header has exactly the form of the template: one line, six attributes in this order, canonical Base64.',
        { authorization },
      ),
    ),
    ...unknownKeyIds(valid).map(([name, authorization]) =>
      refuseAt('header', 'AUT_KEY_NOT_FOUND')(
        name,
        'No registry can hold this subscriberId or recordId; it is not asked.',
        { authorization },
      ),
    ),
    action(
      'a request that is signed as a callback, over four lines',
      'A request answers nothing: it signs "(created) (expires) digest".',
      {
        authorization: signRequest(provider, Buffer.from(publishBody), {
          now,
          answering: parseSignatureHeader(valid).signature,
        }),
      },
    ),
    action('a GET with a body', 'GET and DELETE are signed, and sent, without a body.', {
      ...{ ...bodiless, body: '{}', authorization: get?.authorization },
    }),
  ];
}

function refusedWindows(): Refusal[] {
  const refuse = refuseAt('window');
  return [
    refuse('a signature that was created 61 seconds ahead', 'At most 60 seconds are tolerated.', {
      at: nowSeconds - 61,
    }),
    refuse('a signature that expires at this second', 'There is no tolerance at its end.', {
      at: nowSeconds + 300,
    }),
    refuse('a signature that expires before it was created', 'Such a window is never open.', {
      ...{ authorization: publishedFor(-1), at: nowSeconds - 10 },
    }),
    refuse('a signature that is valid for a second more than two hours', 'At most 7,200 seconds.', {
      authorization: publishedFor(7_201),
    }),
    refuse(
      'a GET that is signed for a second more than ten minutes',
      'Nothing binds it to its address, so it is good for 600 seconds at most.',
      {
        ...bodiless,
        authorization: signRequest(keyOf('discovery'), Buffer.alloc(0), { now, lifetimeSeconds: 601 }),
      },
    ),
  ];
}

function refusedKeys(): Refusal[] {
  return [
    refuseAt('key', 'AUT_KEY_EXPIRED_OR_REVOKED')(
      'a key that was revoked',
      'Only keys in state live count.',
      {
        authorization: publishedAs(keyOf('revoked')),
      },
    ),
    refuseAt('key', 'AUT_KEY_NOT_FOUND')(
      'a key that the registry does not have',
      'The subscriber is registered, this key is not.',
      { authorization: publishedAs({ recordId: 'key-9' }) },
    ),
    refuseAt('key', 'AUT_SUBSCRIBER_NOT_FOUND')(
      'a subscriber that the registry does not have',
      'Nobody is registered under this name.',
      { authorization: publishedAs({ subscriberId: 'nobody.example.com' }) },
    ),
  ];
}

function refusedSignatures(): Refusal[] {
  const refuse = refuseAt('signature');
  const bodies = {
    'a body with one letter changed': publishBody.replace('Espresso', 'espresso'),
    'a body with a line feed added': `${publishBody}\n`,
    'a body written anew, with white space': JSON.stringify(JSON.parse(publishBody), null, 2),
    'a body whose letters were escaped': publishBody.replace('Coffee', String.raw`\u0043offee`),
  };
  const overBody = sign(null, Buffer.from(publishBody), provider.privateKey).toString('base64');
  return [
    refuse('the signature of another key', 'The key that keyId names did not make it.', {
      authorization: publishedAs({ privateKey: keyOf('consumer').privateKey }),
    }),
    ...Object.entries(bodies).map(([name, body]) =>
      refuse(name, 'The digest is over the bytes as they are sent, not over what they mean.', { body }),
    ),
    refuse('the digest without its label in the signing string', 'The line is "digest: BLAKE-512=…".', {
      authorization: signedOver(digestWithoutLabel),
    }),
    refuse(
      'a signing string that ends in a line feed',
      'Three lines are joined by line feeds; none follows the last.',
      { authorization: signedOver(`${digest}\n`) },
    ),
    refuse('the signature over the body itself', 'The signing string is signed, not the body.', {
      authorization: valid.replace(/signature="[^"]*"$/, `signature="${overBody}"`),
    }),
  ];
}

const publishedExample = {
  ...{ subscriberId: 'bap.stayhalo.in', recordId: '207' },
  publicKey: 'awGPjRK6i/Vg/lWr+0xObclVxlwZXvTjWYtlu6NeOHk=',
  body:
    '{"context":{"domain":"nic2004:60212","country":"IND","city":"Kochi","action":"search","core_version":"0.9.1",' +
    '"bap_id":"bap.stayhalo.in","bap_uri":"https://8f9f-49-207-209-131.ngrok.io/protocol/",' +
    '"transaction_id":"e6d9f908-1d26-4ff3-a6d1-3af3d3721054","message_id":"a2fe6d52-9fe4-4d1a-9d0b-dccb8b48522d",' +
    '"timestamp":"2022-01-04T09:17:55.971Z","ttl":"P1M"},"message":{"intent":{"fulfillment":{"start":{"location":' +
    '{"gps":"10.108768, 76.347517"}},"end":{"location":{"gps":"10.102997, 76.353480"}}}}}}',
  authorization:
    'Signature keyId="bap.stayhalo.in|207|ed25519",algorithm="ed25519",created="1641287875",expires="1641291475",' +
    'headers="(created) (expires) digest",signature="' +
    'cjbhP0PFyrlSCNszJM1F/YmHDVAWsZqJUPzojnE/7TJU3fJ/rmIlgaUHEr5E0/2PIyf0tpSnWtT6cyNNlpmoAQ=="',
};
