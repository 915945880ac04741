import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasCode } from '../error-code.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { type ByteRange, isNotModified, type Validators, wantedRange } from './conditional.ts';
import { cutOffIdleReader } from './idle-reader.ts';

// Serves files of a directory over HTTP, like any static host: conditional requests, ranges, and no way out of the directory.

/** The path below a directory for an address; undefined if it can have none. */
export function findPath(url: string, isServed: (segment: string, index: number) => boolean) {
  try {
    const segments = decodeURIComponent(url.replace(/[?#].*$/s, ''))
      .split('/')
      .slice(1);
    const isPlain = (segment: string) => segment !== '' && !/[\\\0]/.test(segment);
    return segments.every((segment, index) => isPlain(segment) && isServed(segment, index))
      ? join(...segments)
      : undefined;
  } catch {
    return undefined; // cannot be decoded
  }
}

export interface OpenedFile {
  path: string;
  handle: FileHandle;
  stat: BigIntStats;
}

/** Undefined if there is no such file, or if a link leads out of the directory. */
export async function openFile(root: string, path: string | undefined): Promise<OpenedFile | undefined> {
  if (path === undefined) return undefined;
  try {
    const [outer, real] = await Promise.all([realpath(root), realpath(join(root, path))]);
    if (!real.startsWith(outer + sep)) return undefined;
    const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await handle.stat({ bigint: true });
    if (stat.isFile()) return { path, handle, stat };
    await handle.close();
    return undefined;
  } catch (error) {
    if (hasCode(error, ...absences)) return undefined;
    throw error;
  }
}

const absences = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'EISDIR', 'ENXIO'];

interface FileForm {
  contentType: string;
  /** Other content gets another name, so it need not be requested again. */
  isVersioned: boolean;
  now: Date;
}

/** A file that is replaced meanwhile is sent with its old content: it has only lost its name. */
export async function sendFile(
  opened: OpenedFile,
  form: FileForm,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { handle, stat } = opened;
  const { status, headers, part } = answerTo(request, opened, form);
  reply.code(status).headers(headers);
  if (part && part.end >= part.start && request.method !== 'HEAD') {
    cutOffIdleReader(reply);
    return reply.send(handle.createReadStream({ ...part, highWaterMark: pieceBytes })); // closes it
  }
  await handle.close();
  if (status !== 416) return reply.send();
  throw new ProtocolError('SCH_SCHEMA_VALIDATION_FAILED', `The file has ${stat.size} bytes.`, { status });
}

const pieceBytes = 256 * 1024;

function answerTo(
  request: FastifyRequest,
  { stat }: OpenedFile,
  form: FileForm,
): { status: number; headers: Record<string, string | number>; part?: ByteRange } {
  const size = Number(stat.size);
  const validators = validatorsOf(stat);
  const always = {
    etag: validators.etag,
    'last-modified': shownDate(validators.lastModified, form.now),
    'cache-control': form.isVersioned ? 'public, max-age=31536000, immutable' : 'no-cache',
    'accept-ranges': 'bytes',
  };
  if (isNotModified(request.headers, validators)) return { status: 304, headers: always };
  const range = wantedRange(request, size, validators);
  if (range === 'unsatisfiable')
    return { status: 416, headers: { ...always, 'content-range': `bytes */${size}` } };
  const part = range ?? { start: 0, end: size - 1 };
  const own = { 'content-type': form.contentType, 'content-length': part.end - part.start + 1 };
  if (!range) return { status: 200, headers: { ...always, ...own }, part };
  const contentRange = { 'content-range': `bytes ${part.start}-${part.end}/${size}` };
  return { status: 206, headers: { ...always, ...own, ...contentRange }, part };
}

/** Files are replaced whole, under a new inode. */
function validatorsOf({ ino, size, mtimeNs }: BigIntStats): Required<Validators> {
  const etag = `"${[mtimeNs, size, ino].map((number) => number.toString(36)).join('-')}"`;
  return { etag, lastModified: new Date(Number(mtimeNs / 1_000_000n)) };
}

/** A file may be written again within the same second, so until that second is over, the given date is the second before. */
function shownDate(lastModified: Date, now: Date): string {
  const lastFullSecond = Math.floor(now.getTime() / 1_000) * 1_000 - 1_000;
  return new Date(Math.min(lastModified.getTime(), lastFullSecond)).toUTCString();
}
