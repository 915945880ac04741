import { bodyDigest } from '../../src/protocol/digest.ts';
import { parseSignatureHeader, signingString, signRequest } from '../../src/protocol/request-signature.ts';
import { keyOf, type ParticipantName } from './keys.ts';

// Requests as their senders sign them. Callbacks and answers are made for some of them.

export const now = new Date('2026-01-02T03:04:05.678Z');
export const nowSeconds = Math.floor(now.getTime() / 1000);

const context = {
  version: '2.0.0',
  messageId: '6d1c4a3e-5b0f-4f4e-9f64-2f4f6f1d8a01',
  transactionId: '0b9d6f0e-1f57-4a55-9f0b-6f6d5ab1c001',
  timestamp: '2026-01-02T03:04:05.678Z',
};

export const publishBody = JSON.stringify({
  context: {
    ...{ ...context, action: 'catalog/publish' },
    ...{ bppId: 'bpp.example.com/subscribers.beckn.one', bppUri: 'https://bpp.example.com' },
  },
  message: {
    catalogs: [
      {
        id: 'coffee-house',
        descriptor: { name: 'Coffee House' },
        provider: { id: 'p1', descriptor: { name: 'A roaster' } },
        resources: [{ id: 'espresso', descriptor: { name: 'Espresso' } }],
      },
    ],
  },
});

const discoverBody = JSON.stringify(
  {
    context: {
      ...{ ...context, action: 'discover' },
      ...{ bapId: 'bap.example.net', bapUri: 'https://bap.example.net/beckn' },
    },
    message: { intent: { textSearch: 'Café ☕ near प्रकाश 😀' } },
  },
  null,
  2,
);

export interface SignedRequest {
  name: string;
  key: ParticipantName;
  action: string;
  method: string;
  path: string;
  body: string;
  created: number;
  expires: number;
  digest: string;
  signingString: string;
  signature: string;
  authorization: string;
}

interface RequestToSign extends Pick<SignedRequest, 'name' | 'key' | 'action' | 'path' | 'body'> {
  method?: string;
  lifetimeSeconds?: number;
}

export function signedRequests(): SignedRequest[] {
  const path = '/catalog/subscription';
  return [
    {
      name: 'a publish',
      key: 'provider',
      action: 'catalog/publish',
      path: '/catalog/publish',
      body: publishBody,
    },
    {
      ...{ name: 'a discover with letters beyond ASCII, indented', key: 'consumer', action: 'discover' },
      ...{ path: '/discover', body: discoverBody },
    },
    {
      ...{ name: 'the same with a line feed at its end: other bytes, another signature', key: 'consumer' },
      ...{ action: 'discover', path: '/discover', body: `${discoverBody}\n` },
    },
    {
      ...{ name: 'a GET, which has no body', key: 'discovery', action: 'catalog/subscription' },
      ...{ method: 'GET', path: `${path}?status=ACTIVE`, body: '', lifetimeSeconds: 60 },
    },
    {
      ...{ name: 'a DELETE, which has no body', key: 'discovery', action: 'catalog/subscription' },
      ...{ method: 'DELETE', path: `${path}?subscriptionId=6f1e7c1c-8a0e-4f0e-9d5a-0b6f1c2d3e4f` },
      ...{ body: '', lifetimeSeconds: 61 },
    },
  ].map((request) => signedRequest(request as RequestToSign));
}

function signedRequest({ lifetimeSeconds, method = 'POST', ...request }: RequestToSign): SignedRequest {
  const body = Buffer.from(request.body);
  const authorization = signRequest(keyOf(request.key), body, { now, lifetimeSeconds });
  const { created, expires, signature } = parseSignatureHeader(authorization);
  const digest = bodyDigest(body);
  const text = signingString({ created, expires, digest }).toString();
  const { name, key, action, path } = request;
  return {
    ...{ name, key, action, method, path, body: request.body },
    ...{ created, expires, digest, signingString: text, signature, authorization },
  };
}
