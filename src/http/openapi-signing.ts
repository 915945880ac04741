// How requests and answers are signed, for the OpenAPI documents (catalog spec: Authentication).

export const signatureScheme = {
  type: 'http',
  scheme: 'Signature',
  description:
    'Authorization: Signature keyId="<subscriber_id>|<record_id>|ed25519",algorithm="ed25519",created="<unix_timestamp>",' +
    'expires="<unix_timestamp>",headers="(created) (expires) digest",signature="<base64_signature>". Ed25519 over the lines ' +
    '"(created): …", "(expires): …" and "digest: BLAKE-512=<base64 of BLAKE2b-512 over the body>", joined by line feeds.',
};

export const signatureHeader = {
  description:
    'The answer, signed by the service in the same form, with a fourth line "request-signature: <signature of the request>".',
  schema: { type: 'string' },
};

export const signingGuide = `Every request is signed by its sender and answered with a signed answer. Bodies are JSON objects with \`context\` and \`message\`.

### Signing a request

The header \`Authorization\` holds an Ed25519 signature over three lines, joined by line feeds, with none at the end:

    (created): 1752000000
    (expires): 1752000300
    digest: BLAKE-512=<base64 of BLAKE2b-512 over the body>

The header is one line:

    Authorization: Signature keyId="<subscriber_id>|<record_id>|ed25519",algorithm="ed25519",created="1752000000",expires="1752000300",headers="(created) (expires) digest",signature="<base64 signature>"

The identity registry has the public key under the \`subscriber_id\` and \`record_id\` of the \`keyId\`. A GET or DELETE signs the digest of zero bytes. A callback signs a
fourth line, \`request-signature:\`, with the signature of the request that it answers. The answer carries a signature of that form in the header \`Signature\`.`;
