import { ack, nack } from '../../src/protocol/acknowledgement.ts';
import { bodyDigest } from '../../src/protocol/digest.ts';
import { ProtocolError } from '../../src/protocol/errors.ts';
import { parseSignatureHeader, signingString, signRequest } from '../../src/protocol/request-signature.ts';
import { keyOf } from './keys.ts';
import { now, signedRequests } from './signed-requests.ts';

// vectors/answers.json: the response header Signature of synchronous answers, which names the request that it answers.

const [publish, , , list] = signedRequests();
const { messageId } = JSON.parse(publish?.body ?? '{}').context;
const missing = new ProtocolError('SCH_REQUIRED_FIELD_MISSING', '$.message.catalogs[0].id is missing.', {
  path: '$.message.catalogs[0].id',
});
const nothingFound = new ProtocolError('BIZ_NO_RESULTS_FOUND', 'Nothing matches.');

export function answerVectors() {
  const request = publish?.authorization ?? '';
  const body = JSON.stringify(ack(messageId));
  const valid = signAnswer(body, publish?.signature);
  return {
    about:
      'The response header Signature of synchronous answers. Its value has the form of the Authorization value of a callback of four lines. Peers need not sign answers: a client that finds no header, or a wrong one, tells its operator, and takes the answer.',
    sign: [
      signedAnswer('an acknowledgement', 200, body, request),
      signedAnswer('a refusal', 400, JSON.stringify(nack(missing, messageId)), request),
      signedAnswer(
        'an acknowledgement with an error',
        202,
        JSON.stringify(ack(messageId, nothingFound)),
        request,
      ),
      signedAnswer('an answer to a request without body', 200, '{}', list?.authorization ?? ''),
    ],
    refuse: [
      {
        ...{
          name: 'the answer to another request',
          request: list?.authorization ?? '',
          body,
          signature: valid,
        },
        reason: 'Its fourth line names the request that it answers, and this is another one.',
      },
      {
        ...{ name: 'a changed answer', request, body: body.replace('ACK', 'NACK'), signature: valid },
        reason: 'The digest is over the bytes as they are received.',
      },
      {
        ...{ name: 'three lines', request, body, signature: signAnswer(body) },
        reason: 'It names no request.',
      },
    ],
  };
}

function signAnswer(body: string, answering?: string): string {
  return signRequest(keyOf('catalog'), Buffer.from(body), { now, answering });
}

function signedAnswer(name: string, status: number, body: string, request: string) {
  const { signature: requestSignature } = parseSignatureHeader(request);
  const header = signAnswer(body, requestSignature);
  const { created, expires } = parseSignatureHeader(header);
  const digest = bodyDigest(Buffer.from(body));
  return {
    ...{ name, key: 'catalog', request, status, body, created, expires, digest, requestSignature },
    signingString: signingString({ created, expires, digest, answering: requestSignature }).toString(),
    signature: header,
  };
}
