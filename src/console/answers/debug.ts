import { titled } from '../../protocol/shapes.ts';
import { type Static, Type } from '../../protocol/type.ts';

const SignatureStep = Type.Object({
  step: Type.String({ examples: ['digest'] }),
  ok: Type.Boolean(),
  expected: Type.Optional(Type.String()),
  got: Type.Optional(Type.String()),
  detail: Type.String(),
});

export const SignatureAnswer = titled('SignatureDiagnosis', {
  verdict: Type.Enum(['holds', 'differs', 'unreadable']),
  differs: Type.Optional(Type.String()),
  steps: Type.Array(SignatureStep),
  signingString: Type.String(),
  digest: Type.Object({ expected: Type.Optional(Type.String()), got: Type.String() }),
  key: Type.Optional(
    Type.Object({
      identity: Type.String(),
      recordId: Type.String(),
      publicKey: Type.Optional(Type.String()),
      state: Type.String(),
    }),
  ),
  hints: Type.Array(Type.String()),
});
export type SignatureAnswer = Static<typeof SignatureAnswer>;

export const InboxItem = titled('InboxItem', {
  id: Type.String(),
  at: Type.String({ format: 'date-time' }),
  path: Type.String(),
  action: Type.Optional(Type.String()),
  /** The signer in the Authorization header, whether or not the signature is valid. */
  from: Type.Optional(Type.String()),
  messageId: Type.Optional(Type.String()),
  verifies: Type.Boolean(),
  why: Type.Optional(Type.String()),
  headers: Type.Record(Type.String(), Type.String()),
  /** Never parsed: 1 MiB of JSON can be 20 MiB of objects. */
  body: Type.String({ description: 'As received; only the first 16 KiB if it does not verify.' }),
});
export type InboxItem = Static<typeof InboxItem>;
