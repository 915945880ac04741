import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { bodyDigest, createBodyDigest } from '../protocol/digest.ts';
import { overloaded } from '../protocol/errors.ts';
import type { Answer } from './error-answer.ts';

// The signature in the header covers the whole answer, so an answer is rendered before its first byte is sent: a small one in memory, a large one
// in a temporary file without a name.

const defaultMemoryBytes = 1024 * 1024;
/** Limit of all spooled answers of the process, because an answer costs its caller nothing. */
const maxSpooledBytes = 4 * 1024 ** 3;
let spooledBytes = 0;

export class SpooledBody {
  readonly size: number;
  readonly digest: string;
  /** Read to its end or destroyed, it frees what it holds. */
  readonly stream: () => Readable;

  constructor(size: number, digest: string, stream: () => Readable) {
    this.size = size;
    this.digest = digest;
    this.stream = stream;
  }
}

/** The bytes of an answer's body: in memory, or a stream of a body that was spooled to a file. The digest is computed when it is asked for. */
export function renderAnswer({ body }: Pick<Answer, 'body'>) {
  if (body instanceof SpooledBody)
    return { payload: body.stream(), bytes: body.size, digest: () => body.digest };
  const payload = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return { payload, bytes: payload.length, digest: () => bodyDigest(payload) };
}

export async function spoolBody(
  pieces: AsyncIterable<string>,
  { memoryBytes = defaultMemoryBytes }: { memoryBytes?: number } = {},
): Promise<SpooledBody> {
  const digest = createBodyDigest();
  const memory: Buffer[] = [];
  let size = 0;
  let file: Awaited<ReturnType<typeof openSpoolFile>> | undefined;
  try {
    for await (const piece of pieces) {
      const bytes = Buffer.from(piece);
      digest.update(bytes);
      size += bytes.length;
      memory.push(bytes);
      if (size <= memoryBytes) continue;
      file ??= await openSpoolFile();
      for (const part of memory.splice(0)) await file.write(part);
    }
  } catch (error) {
    await file?.close();
    throw error;
  }
  return new SpooledBody(size, digest.digest(), () => file?.read() ?? Readable.from(memory));
}

/** A temporary file that has no name any more: it is gone when it is closed, or with the process. */
export async function openNamelessFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `signpost-${randomUUID()}`);
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  return handle;
}

async function openSpoolFile() {
  const handle = await openNamelessFile();
  let held = 0;
  const release = () => {
    spooledBytes -= held;
    held = 0;
  };
  return {
    async write(bytes: Buffer) {
      if (spooledBytes + bytes.length > maxSpooledBytes) {
        const says = 'Too many large answers are being sent. Try again later.';
        throw overloaded(says, { retryAfterSeconds: 5 });
      }
      spooledBytes += bytes.length;
      held += bytes.length;
      await handle.writeFile(bytes);
    },
    read: () => handle.createReadStream({ start: 0, highWaterMark: 256 * 1024 }).once('close', release),
    async close() {
      release();
      await handle.close();
    },
  };
}
