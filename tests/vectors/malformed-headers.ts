// Headers that do not match the template, each made from one that does.

export function malformedHeaders(valid: string): [name: string, value: string][] {
  const signature = valid.slice(valid.indexOf('signature="') + 11, -1);
  return [
    ['an empty value', ''],
    ['another scheme', valid.replace('Signature', 'Bearer')],
    ['the scheme in lower case', valid.replace('Signature', 'signature')],
    ['two spaces after the scheme', valid.replace('Signature ', 'Signature  ')],
    ['a space after a comma', valid.replace(',created', ', created')],
    ['a space around =', valid.replace('created=', 'created =')],
    ['a space at the start', ` ${valid}`],
    ['a space at the end', `${valid} `],
    ['a line feed at the end', `${valid}\n`],
    ['a folded line', valid.replace(',expires', ',\r\n expires')],
    ['a tab between the tokens of headers', valid.replace(') digest', ')\tdigest')],
    ['two spaces between the tokens of headers', valid.replace(') digest', ')  digest')],
    ['a comma at the end', `${valid},`],
    ['another order', valid.replace(/(created="\d+"),(expires="\d+")/, '$2,$1')],
    ['an attribute given twice', valid.replace(',created', ',algorithm="ed25519",created')],
    ['a missing attribute', valid.replace('algorithm="ed25519",', '')],
    ['an unknown attribute', `${valid},nonce="1"`],
    ['values without quotes', valid.replace('"ed25519",created', 'ed25519,created')],
    ['another algorithm', valid.replace('algorithm="ed25519"', 'algorithm="rsa-sha256"')],
    ['another algorithm in keyId', valid.replace('|ed25519"', '|ed448"')],
    ['two segments in keyId', valid.replace('|key-1', '')],
    ['four segments in keyId', valid.replace('|key-1', '|key-1|key-2')],
    ['white space in keyId', valid.replace('key-1', 'key 1')],
    ['fewer headers', valid.replace(' digest"', '"')],
    ['other headers', valid.replace('(created) (expires) digest', '(created) (expires) host digest')],
    ['a leading zero in created', valid.replace('created="', 'created="0')],
    ['a sign in created', valid.replace('created="', 'created="+')],
    ['a negative expires', valid.replace('expires="', 'expires="-')],
    ['a fraction in expires', valid.replace(/expires="(\d+)"/, 'expires="$1.5"')],
    ['an exponent', valid.replace(/expires="\d+"/, 'expires="1e9"')],
    ['an empty created', valid.replace(/created="\d+"/, 'created=""')],
    ['more digits than a number holds', valid.replace(/expires="\d+"/, 'expires="9999999999999999"')],
    ['an empty signature', valid.replace(signature, '')],
    ['a signature without padding', valid.replace('=="', '"')],
    ['a signature in base64url', valid.replace(signature, signature.replace(/[+/]/g, '-'))],
    ['a signature of 63 bytes', valid.replace(signature, Buffer.alloc(63).toString('base64'))],
    ['stray bits in the signature', valid.replace(/[AQgw]==/, (end) => end.replace(/[AQgw]/, 'B'))],
    ['two headers in one', `${valid}, ${valid}`],
  ];
}

export function unknownKeyIds(valid: string): [name: string, value: string][] {
  const keyIds: [name: string, keyId: string][] = [
    ['an empty subscriberId', '|key-1|ed25519'],
    ['an empty recordId', 'example.com||ed25519'],
    ['three parts in the subscriberId', 'a/b/c|key-1|ed25519'],
    ['an empty half of the subscriberId', 'example.com/|key-1|ed25519'],
    ['a subscriberId with dots that climb', '../x|key-1|ed25519'],
    ['a recordId that climbs', 'example.com|..|ed25519'],
    ['a slash in the recordId', 'example.com|a/b|ed25519'],
    ['an escape in the recordId', 'example.com|a%2fb|ed25519'],
    ['a query in the recordId', 'example.com|a?b|ed25519'],
    ['letters beyond ASCII in the subscriberId', 'exämple.com|key-1|ed25519'],
    ['a recordId of 256 characters', `example.com|${'k'.repeat(256)}|ed25519`],
  ];
  return keyIds.map(([name, keyId]) => [name, valid.replace(/keyId="[^"]*"/, `keyId="${keyId}"`)]);
}
