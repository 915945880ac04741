import type { JsonObject } from '../../src/protocol/json.ts';

// Signatures of documents in none of the accepted forms, each made from a correct one.

export function malformedSignatures(entry: JsonObject, signUnder: (header: string) => string) {
  const { signature, ...content } = entry;
  const [header = '', , value = ''] = String(signature).split('.');
  const attached = Buffer.from(JSON.stringify(content)).toString('base64url');
  const texts = {
    'an attached payload': `${header}.${attached}.${value}`,
    'two parts': `${header}.${value}`,
    'four parts': `${header}..${value}.`,
    padding: `${header}..${value}==`,
    'a padded header': `${header}=..${value}`,
    'white space': `${header}..${value}\n`,
    'a short signature': `${header}..${value.slice(4)}`,
    'no signature': `${header}..`,
    'nothing in it': '',
  };
  return [
    ...Object.entries(headers).map(([name, text]) => ({
      name: `a protected header with ${name}`,
      signature: signUnder(text),
      reason:
        'Only {"alg":"EdDSA","b64":false,"crit":["b64"],"kid":"…"} counts: another header could change what is signed.',
    })),
    ...Object.entries(texts).map(([name, text]) => ({
      name: `a JWS with ${name}`,
      signature: text,
      reason: 'A detached JWS is <header>..<signature>, in base64url without padding.',
    })),
    ...Object.entries(values).map(([name, value]) => ({
      name: `a signature that is ${name}`,
      signature: value,
      reason: 'A signature is a detached JWS or {keyId, value}.',
    })),
  ].map(({ name, signature: malformed, reason }) => ({
    ...{ name, document: { ...content, signature: malformed }, code: 'signature-invalid', reason },
  }));
}

const headers = {
  'another algorithm': '{"alg":"none","b64":false,"crit":["b64"],"kid":"key-1"}',
  'an encoded payload': '{"alg":"EdDSA","b64":true,"crit":["b64"],"kid":"key-1"}',
  'no b64': '{"alg":"EdDSA","crit":["b64"],"kid":"key-1"}',
  'no crit': '{"alg":"EdDSA","b64":false,"kid":"key-1"}',
  'an empty crit': '{"alg":"EdDSA","b64":false,"crit":[],"kid":"key-1"}',
  'more in crit': '{"alg":"EdDSA","b64":false,"crit":["b64","exp"],"kid":"key-1"}',
  'crit as text': '{"alg":"EdDSA","b64":false,"crit":"b64","kid":"key-1"}',
  'an unknown member':
    '{"alg":"EdDSA","b64":false,"crit":["b64"],"kid":"key-1","jku":"https://evil.example"}',
  'an empty kid': '{"alg":"EdDSA","b64":false,"crit":["b64"],"kid":""}',
  'a kid that is no string': '{"alg":"EdDSA","b64":false,"crit":["b64"],"kid":1}',
  'a member given twice': '{"alg":"none","alg":"EdDSA","b64":false,"crit":["b64"],"kid":"key-1"}',
  'an array': '["EdDSA"]',
  'no JSON': 'alg=EdDSA',
  'nothing in it': '',
};

const someSignature = Buffer.alloc(64, 1).toString('base64');
const values = {
  null: null,
  'a number': 1,
  'an array': [],
  'an object without keyId': { value: someSignature },
  'an object with an empty keyId': { keyId: '', value: someSignature },
  'an object without value': { keyId: 'key-1' },
  'an object with a short value': { keyId: 'key-1', value: 'AAAA' },
  'an object with a value that is no Base64': { keyId: 'key-1', value: '!'.repeat(88) },
};
