import { bodyDigest, sha256Digest, spellingsOfBodyDigest } from '../../src/protocol/digest.ts';

// vectors/digests.json: the digest of a body (BLAKE2b-512) and of a file (SHA-256), their usual forms, and other accepted forms.

const texts = [
  { name: 'zero bytes, which GET and DELETE sign', text: '' },
  { name: 'three bytes, the example of RFC 7693', text: 'abc' },
  { name: 'text beyond ASCII: the bytes of its UTF-8', text: '{"name":"Café ☕ 😀"}' },
  { name: 'white space counts', text: '{ "name": "Café ☕ 😀" }\n' },
  { name: 'more than one block of BLAKE2b', text: 'Signpost '.repeat(40) },
];

export function digestVectors() {
  const [, second = ''] = spellingsOfBodyDigest(bodyDigest(abc));
  return {
    about:
      'Digests of the UTF-8 bytes of `text`. `body` is the digest line of a request signature and context.requestDigest.digest: BLAKE2b-512 in Base64. `file` is the digest of a hosted file: SHA-256 in hexadecimal digits.',
    cases: texts.map(({ name, text }) => ({
      name,
      text,
      body: bodyDigest(Buffer.from(text)),
      file: sha256Digest(Buffer.from(text)),
    })),
    accept: [
      { name: 'the other label of a body digest', of: 'body', text: 'abc', digest: second },
      ...[ofFile.replace('sha256', 'sha-256'), ofFile.toUpperCase(), `sha256:${hex.toUpperCase()}`].map(
        (digest) => ({
          name: `a file digest spelled ${digest.slice(0, 12)}…`,
          of: 'file',
          text: 'abc',
          digest,
        }),
      ),
    ],
    refuse: [
      ...[
        ['another label', ofBody.replace('BLAKE-512', 'SHA-512'), 'The label is BLAKE-512=.'],
        ['no padding', ofBody.replace('==', ''), 'Base64 is padded.'],
        [
          'stray bits',
          ofBody.replace('Iw==', 'Ix=='),
          'Base64 has one spelling: encoding the bytes again gives it.',
        ],
        ['another length', 'BLAKE-512=AAAA', 'The digest has 64 bytes.'],
        ['nothing', '', 'There is no digest.'],
      ].map(refusal('body')),
      ...[
        ['no label', hex, 'The label is sha256:.'],
        ['another label', `sha512:${hex}`, 'The label is sha256:.'],
        ['a blank at its end', `${ofFile} `, 'Nothing follows the digits.'],
        ['two labels', `sha256:sha-256:${hex}`, 'There is one label.'],
        ['a digit too few', ofFile.slice(0, -1), 'SHA-256 has 64 hexadecimal digits.'],
        ['nothing', '', 'There is no digest.'],
        [
          'the digest of other bytes',
          sha256Digest(Buffer.from('abd')),
          'The bytes are not those that were declared.',
        ],
      ].map(refusal('file')),
    ],
  };
}

function refusal(of: 'body' | 'file') {
  return ([name, digest, reason]: string[]) => ({ name: `${of}: ${name}`, of, text: 'abc', digest, reason });
}

const abc = Buffer.from('abc');
const ofBody = bodyDigest(abc);
const ofFile = sha256Digest(abc);
const hex = ofFile.slice('sha256:'.length);
