import type { Readable } from 'node:stream';
import { bodyDigest } from '../protocol/digest.ts';
import type { Answer } from './error-answer.ts';
import { SpooledBody } from './spooled-body.ts';

export interface RenderedAnswer {
  payload: Buffer | Readable;
  bytes: number;
  /** Computed when it is called: an answer that is not signed needs none. */
  digest: () => string;
}

/** The bytes of an answer's body: in memory, or a stream of a body that was spooled to a file. */
export function renderAnswer({ body }: Pick<Answer, 'body'>): RenderedAnswer {
  if (body instanceof SpooledBody)
    return { payload: body.stream(), bytes: body.size, digest: () => body.digest };
  const payload = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return { payload, bytes: payload.length, digest: () => bodyDigest(payload) };
}
