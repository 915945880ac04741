import type { FastifyReply } from 'fastify';

const idleReaderMs = 60_000;

/** For answers that are sent piece by piece: whoever takes nothing for so long is cut off, and what the answer holds is freed. */
export function cutOffIdleReader({ raw }: FastifyReply, idleMs = idleReaderMs): void {
  raw.setTimeout(idleMs, () => void raw.destroy());
}
