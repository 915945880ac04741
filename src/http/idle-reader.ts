import type { FastifyReply } from 'fastify';

const idleReaderMs = 60_000;

/** For answers sent in pieces: a reader that accepts nothing for this long is cut off, and the resources of the answer are freed. */
export function cutOffIdleReader({ raw }: FastifyReply, idleMs = idleReaderMs): void {
  raw.setTimeout(idleMs, () => void raw.destroy());
}
