import type { PlainOperation } from '../http/openapi.ts';
import { Type } from '../protocol/type.ts';

// The answers that any request to the console may get, for its OpenAPI document: the guard judges all of them (guard.ts). An operation's own answers come first.

const ConsoleRefusal = Type.Object(
  {
    error: Type.Object({
      code: Type.String({ description: 'A code of the protocol.' }),
      message: Type.String(),
      hint: Type.Optional(Type.String({ description: 'What to do about it.' })),
      path: Type.Optional(Type.String({ description: 'Where the body or the query is wrong.' })),
    }),
  },
  { title: 'ConsoleRefusal', description: 'Why a request was refused.' },
);

export function describeRefusals(operation: PlainOperation, path: string): PlainOperation {
  const { query, body, answers } = operation;
  const isOfApi = path.startsWith('/api/');
  const hasName = path.includes('/:');
  return {
    ...operation,
    // Callbacks to the inbox are answered as a consumer answers them.
    ...(isOfApi && { refusal: ConsoleRefusal }),
    answers: {
      ...when(query || body || hasName, {
        400: 'The query or the body is wrong, with its path, or a name in the address.',
      }),
      ...when(hasName, { 404: 'There is nothing of that name.' }),
      ...when(isOfApi, {
        503: 'The database cannot be used at present; Retry-After says when to come again.',
        504: 'The database took too long.',
      }),
      ...ofGuard,
      ...when(body, { 413: 'The body is too large.', 415: 'The body is not application/json.' }),
      ...answers,
    },
  };
}

const when = (holds: unknown, said: Record<number, string>) => (holds ? said : {});

const ofGuard: Record<number, string> = {
  401: 'The token of an operator is missing, or no operator has it.',
  403: 'It comes from a page of another origin or through a proxy, lacks the header that goes with the cookie, or needs another role of its operator.',
  429: 'Too many wrong tokens came from this address; Retry-After says when to come again.',
};
