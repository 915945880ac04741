import { pipeline, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, gunzip, type ZlibOptions } from 'node:zlib';
import { hasCode } from '../error-code.ts';
import { FetchFailure } from './fetch-failure.ts';

// Gunzip with a limit of its output: a few kilobytes can inflate to gigabytes. `what` names the bytes in messages.

/** The body of an answer, decoded by its Content-Encoding: unchanged, or gunzipped. */
export async function decodeBody(
  wire: Buffer,
  encoding: string | undefined,
  { maxBytes, maxInflatedBytes = maxBytes }: { maxBytes: number; maxInflatedBytes?: number },
  what: string,
): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity' || wire.length === 0) return wire;
  if (name === 'gzip' || name === 'x-gzip')
    return gunzipped(wire, { maxOutputLength: maxInflatedBytes }).catch((error) => {
      throw inflateFailure(error, maxInflatedBytes, what);
    });
  throw new FetchFailure('bad-encoding', `${what} answers in the encoding "${encoding}", which is not gzip.`);
}

const gunzipped = promisify<Buffer, ZlibOptions, Buffer>(gunzip);

/** The same for a streamed download. */
export async function* inflateStream(
  source: Readable,
  maxInflatedBytes: number,
  what: string,
): AsyncGenerator<Buffer> {
  const inflated = pipeline(source, createGunzip(), () => {}); // a failing source fails the reading below
  let inflatedBytes = 0;
  try {
    for await (const chunk of inflated) {
      inflatedBytes += chunk.length;
      if (inflatedBytes > maxInflatedBytes) throw tooLarge(maxInflatedBytes, what);
      yield chunk;
    }
  } catch (error) {
    throw inflateFailure(error, maxInflatedBytes, what);
  }
}

function inflateFailure(error: unknown, maxInflatedBytes: number, what: string): FetchFailure {
  if (error instanceof FetchFailure) return error;
  if (hasCode(error, 'ERR_BUFFER_TOO_LARGE')) return tooLarge(maxInflatedBytes, what);
  return new FetchFailure('bad-encoding', `${what} is not valid gzip.`, error);
}

function tooLarge(maxInflatedBytes: number, what: string): FetchFailure {
  return new FetchFailure('too-large', `${what} inflates to more than ${maxInflatedBytes} bytes.`);
}
