import { bodyDigest } from '../../src/protocol/digest.ts';
import { parseSignatureHeader, signingString, signRequest } from '../../src/protocol/request-signature.ts';
import { keyOf } from './keys.ts';
import { now, nowSeconds, publishBody, signedRequests } from './signed-requests.ts';

// vectors/callbacks.json: the header Authorization of a callback, which names the request that it answers.

const [publish] = signedRequests();
const authorization = publish?.authorization ?? '';
const requestSignature = publish?.signature ?? '';
/** A repeat of the request, a minute later: the same bytes under another signature. */
const repeated = signRequest(keyOf('provider'), Buffer.from(publishBody), {
  now: new Date(now.getTime() + 60_000),
});
const later = new Date(now.getTime() + 61_000);

const { context } = JSON.parse(publishBody);
const callback = {
  context: {
    ...context,
    action: 'catalog/on_publish',
    timestamp: later.toISOString(),
    requestDigest: { digest: bodyDigest(Buffer.from(publishBody)) },
  },
  message: {
    results: [
      {
        catalogId: 'coffee-house',
        status: 'ACCEPTED',
        stats: { itemCount: 1, providerCount: 1, categoryCount: 0 },
      },
    ],
  },
};
const body = JSON.stringify(callback);

export function callbackVectors() {
  const fourLines = signCallback(requestSignature);
  const threeLines = signCallback();
  const usual = { sent: [authorization], body, at: nowSeconds + 61 };
  const invalid = { code: 'AUT_SIGNATURE_INVALID' };
  const signer = { subscriberId: keyOf('catalog').subscriberId, recordId: keyOf('catalog').recordId };
  return {
    about:
      'The header Authorization of callbacks (on_publish, on_pull, on_discover). `request` is what the callback answers; `sent` the Authorization values of all attempts at it. A callback signs a fourth line with the text of the signature of the request; one of three lines is accepted from peers that do not.',
    request: { action: 'catalog/publish', body: publishBody, authorization, digest: publish?.digest },
    sign: [
      { name: 'a callback of four lines', ...describe(fourLines, requestSignature) },
      { name: 'a callback of three lines', ...describe(threeLines) },
    ],
    accept: [
      {
        ...{ ...usual, ...signer, name: 'a callback of four lines', authorization: fourLines },
        ...{ chained: true, reason: 'It names the signature of the request.' },
      },
      {
        ...{ ...usual, ...signer, name: 'a callback of three lines', authorization: threeLines },
        ...{ chained: false, reason: 'Deployed peers send it. A receiver may require four lines.' },
      },
      {
        ...{ ...usual, ...signer, name: 'a fourth line with the whole Authorization value of the request' },
        ...{ authorization: signCallback(authorization), chained: true },
        reason: 'A deployed peer names the request so, byte for byte.',
      },
      {
        ...{
          ...usual,
          ...signer,
          name: 'a callback to a repeat of the request',
          sent: [authorization, repeated],
        },
        ...{ authorization: signCallback(parseSignatureHeader(repeated).signature), chained: true },
        reason: 'Each attempt at a request has a signature of its own; any of them may be named.',
      },
    ],
    refuse: [
      {
        ...{ ...usual, ...invalid, name: 'the signature of another request in the fourth line' },
        authorization: signCallback(parseSignatureHeader(repeated).signature),
        reason: 'No request was sent under that signature.',
      },
      {
        ...{ ...usual, ...invalid, name: 'an altered Authorization value in the fourth line' },
        ...{ authorization: signCallback(`${authorization} `), reason: 'It is compared byte for byte.' },
      },
      {
        ...{ ...usual, ...invalid, name: 'an empty fourth line', authorization: signCallback('') },
        reason: 'It names no request.',
      },
      {
        ...{ ...usual, ...invalid, name: 'four lines where no request was sent', sent: [] },
        ...{ authorization: fourLines, reason: 'It answers a request that is not known.' },
      },
      {
        ...{ ...usual, ...invalid, name: 'four lines, passed off as three' },
        authorization: fourLines.replace('digest request-signature', 'digest'),
        reason: 'The signature is over four lines.',
      },
      {
        ...{ ...usual, ...invalid, name: 'three lines, passed off as four' },
        authorization: threeLines.replace('digest"', 'digest request-signature"'),
        reason: 'The signature is over three lines.',
      },
      {
        ...{ ...usual, ...invalid, name: 'a changed result', authorization: fourLines },
        ...{
          body: body.replace('ACCEPTED', 'REJECTED'),
          reason: 'The digest is over the bytes as they are sent.',
        },
      },
      {
        ...{ ...usual, code: 'CTX_INVALID_FIELD', name: 'the digest of another request in requestDigest' },
        ...withBody({ ...callback.context, requestDigest: { digest: bodyDigest(Buffer.from('{}')) } }),
        reason: 'context.requestDigest.digest is that of the raw body of the request.',
      },
    ],
  };
}

function withBody(changed: object): { body: string; authorization: string } {
  const text = JSON.stringify({ ...callback, context: changed });
  return { body: text, authorization: signCallback(requestSignature, text) };
}

function signCallback(answering?: string, text = body): string {
  return signRequest(keyOf('catalog'), Buffer.from(text), { now: later, answering });
}

function describe(header: string, answering?: string) {
  const { created, expires, signature } = parseSignatureHeader(header);
  const digest = bodyDigest(Buffer.from(body));
  return {
    ...{ key: 'catalog', path: '/catalog/on_publish', body, created, expires, digest },
    ...(answering !== undefined && { requestSignature: answering }),
    signingString: signingString({ created, expires, digest, answering }).toString(),
    ...{ signature, authorization: header },
  };
}
