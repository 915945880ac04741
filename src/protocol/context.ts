/** The `context` of every request and callback (catalog spec: Context), and the contexts that answer it. Unknown members are kept and ignored. A known member with a bad value is CTX_INVALID_FIELD. */

import { protocolVersion } from './endpoints.ts';
import { DateTime, NetworkId, oneOfTexts, titled } from './shapes.ts';
import { type Static, type TObject, Type } from './type.ts';

const messageId = Type.String({ minLength: 1, maxLength: 128, description: 'Correlates callbacks.' });
const transactionId = Type.String({ minLength: 1, maxLength: 128 });
const nodeId = Type.String({
  minLength: 1,
  maxLength: 512,
  description: "The caller's own may be omitted; it defaults to the signer.",
});
const baseUri = Type.String({
  format: 'uri',
  pattern: '^[hH][tT][tT][pP][sS]?://',
  description: "The caller's own may be omitted; it defaults to the url of its registry record.",
});

export const Context = titled('Context', {
  version: Type.String({ description: 'Protocol version of the message.', examples: [protocolVersion] }),
  action: Type.String({ description: "Must equal the endpoint's action." }),
  messageId,
  transactionId,
  timestamp: DateTime,
  ttl: Type.Optional(
    Type.String({
      format: 'duration',
      description: 'ISO 8601; the message is refused when timestamp plus ttl has elapsed before processing.',
      examples: ['PT30S'],
    }),
  ),
  bapId: Type.Optional(nodeId),
  bapUri: Type.Optional(baseUri),
  bppId: Type.Optional(nodeId),
  bppUri: Type.Optional(baseUri),
  networkId: Type.Optional(NetworkId),
  schemaContext: Type.Optional(Type.Array(Type.String(), { description: 'Schema context URIs.' })),
  key: Type.Optional(Type.String()),
  try: Type.Optional(Type.Boolean()),
  senderId: Type.Optional(Type.String()),
  receiverId: Type.Optional(Type.String()),
  requestDigest: Type.Optional(
    Type.Object(
      { digest: Type.String({ pattern: '^BLAKE(2b)?-512=[A-Za-z0-9+/]+=*$' }) },
      { description: 'On callbacks: binds the callback to the originating request.' },
    ),
  ),
});
export type Context = Static<typeof Context>;

export const AnswerContext = titled('AnswerContext', {
  version: oneOfTexts([protocolVersion]),
  action: Type.String(),
  messageId,
  transactionId,
  timestamp: DateTime,
});
export type AnswerContext = Static<typeof AnswerContext>;

export function answerContext(
  action: string,
  request: Omit<AnswerContext, 'version' | 'action'>,
): AnswerContext {
  const { messageId, transactionId, timestamp } = request;
  return { version: protocolVersion, action, messageId, transactionId, timestamp };
}

/** The context of a callback: that of the request with another action, a new timestamp and the digest of the request's body. `sender` is for on_discover: the Discovery Service. */
export function callbackContext(
  action: string,
  request: Context,
  answer: { now: Date; requestDigest: string; sender?: { bppId: string; bppUri: string } },
): Context {
  return {
    ...request,
    ...answer.sender,
    action,
    timestamp: answer.now.toISOString(),
    requestDigest: { digest: answer.requestDigest },
  };
}

/** The body of a request has exactly these two members; the body of a callback is open. */
export function envelope<C extends TObject, M extends TObject>(title: string, context: C, message: M) {
  return Type.Object({ context, message }, { title, additionalProperties: false });
}

export function openEnvelope<C extends TObject, M extends TObject>(title: string, context: C, message: M) {
  return Type.Object({ context, message }, { title });
}
