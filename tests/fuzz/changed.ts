import fc from 'fast-check';
import { type ByteMutation, bytesSometimes, mutateBytes } from './mutate-bytes.ts';
import { type Mutation, mutateText, mutations } from './mutate-json.ts';

/** How a document is changed: first its content (rows of a list, members of a document), then its bytes. */
export interface Changed {
  content: readonly Mutation[];
  bytes: readonly ByteMutation[];
}

export const changed: fc.Arbitrary<Changed> = fc.record({ content: mutations, bytes: bytesSometimes() });

export function renderChanged(document: unknown, { content, bytes }: Changed): Buffer {
  return mutateBytes(Buffer.from(mutateText(document, content)), bytes);
}
