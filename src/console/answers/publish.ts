import type { PublishResult } from '../../protocol/publish-messages.ts';
import { type Static, Type } from '../../protocol/type.ts';

export type { PublishResult };

export const Fault = Type.Object(
  {
    code: Type.String(),
    message: Type.String(),
    path: Type.Optional(Type.String()),
    line: Type.Optional(Type.Integer({ description: 'In the text, from 1.' })),
    column: Type.Optional(Type.Integer({ description: 'In characters, from 1.' })),
    hint: Type.Optional(Type.String()),
  },
  { title: 'PlacedFault' },
);
export type Fault = Static<typeof Fault>;

export const CheckAnswer = Type.Object({
  parsed: Type.Boolean({ description: 'Whether it is JSON.' }),
  faults: Type.Array(Fault),
  warnings: Type.Array(Fault),
  catalogs: Type.Array(
    Type.Object({ catalogId: Type.String(), resources: Type.Integer(), offers: Type.Integer() }),
  ),
});
export type CheckAnswer = Static<typeof CheckAnswer>;

const Results = Type.Optional(Type.Array(Type.Unsafe<PublishResult>({})));

export const PublishAnswer = Type.Object({
  way: Type.String(),
  messageId: Type.String({ description: 'Use it to follow the progress.' }),
  transactionId: Type.Optional(Type.String()),
  results: Results,
});
export type PublishAnswer = Static<typeof PublishAnswer>;

const PublishStep = Type.Object({
  step: Type.String({ examples: ['indexed'] }),
  state: Type.Enum(['done', 'waiting', 'failed']),
  at: Type.Optional(Type.String({ format: 'date-time' })),
  detail: Type.Optional(Type.String()),
});
export type PublishStep = Static<typeof PublishStep>;

export const ProgressAnswer = Type.Object({ steps: Type.Array(PublishStep), results: Results });
export type ProgressAnswer = Static<typeof ProgressAnswer>;
