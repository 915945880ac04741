import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasCode } from '../error-code.ts';
import type { ByteRange } from '../http/byte-range.ts';
import { isNotModified, type Validators, wantedRange } from '../http/conditional.ts';
import { cutOffIdleReader } from '../http/idle-reader.ts';
import type { PlainOperation } from '../http/openapi.ts';
import { ProtocolError } from '../protocol/errors.ts';

// The published files over HTTP, as any static host would serve a copy of the same directory (self-hosted spec: Endpoints): conditional
// requests, so that an unchanged catalog costs one cheap poll, and files whose name tells their content are never asked for again.

export function addFileRoutes(
  server: FastifyInstance,
  { root, now = () => new Date() }: { root: string; now?: () => Date },
): void {
  server.options('/*', async (_request, reply) => reply.code(204).headers(preflightAnswer).send());
  server.route({
    method: ['GET', 'HEAD'],
    url: '/*',
    config: { operation: fileOperation },
    handler: async (request, reply) => {
      reply.headers(forAnyOrigin);
      const opened = await openFile(root, findPath(request.url));
      if (!opened)
        throw new ProtocolError('NET_NOT_IMPLEMENTED', 'There is no such file here.', { status: 404 });
      return send(opened, answerTo(request, opened, now()), request, reply);
    },
  });
}

const fileOperation: PlainOperation = {
  summary: 'Fetch a published file: manifest, Subscriber record, catalog index, baseline or change file.',
  answers: {
    206: 'The range that was asked for.',
    304: 'Unchanged since the ETag in If-None-Match, or the date in If-Modified-Since.',
    404: 'There is no such file.',
    416: 'The range is not within the file.',
  },
};

/** Self-hosted spec, Limits: files are public, and so to the pages of any site. */
const forAnyOrigin = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Content-Range',
  'x-content-type-options': 'nosniff',
};
const preflightAnswer = {
  ...forAnyOrigin,
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': 'If-None-Match, If-Modified-Since, Range, If-Range',
  'access-control-max-age': '86400',
};

/** The path below the root that an address means; undefined where it can mean none, or one that is not for others. */
function findPath(url: string): string | undefined {
  try {
    const segments = decodeURIComponent(url.replace(/[?#].*$/s, ''))
      .split('/')
      .slice(1);
    return segments.every(isServed) ? join(...segments) : undefined;
  } catch {
    return undefined; // not to be decoded
  }
}

function isServed(segment: string, place: number): boolean {
  if (segment === '' || /[\\\0]/.test(segment)) return false;
  return !segment.startsWith('.') || (place === 0 && segment === '.well-known');
}

interface OpenedFile {
  path: string;
  handle: FileHandle;
  stat: BigIntStats;
}

/** Undefined where there is no such file, or where a link leads out of the directory. */
async function openFile(root: string, path: string | undefined): Promise<OpenedFile | undefined> {
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

interface FileAnswer {
  status: 200 | 206 | 304 | 416;
  headers: Record<string, string | number>;
  /** What is sent of the file. */
  part?: ByteRange;
}

function answerTo(request: FastifyRequest, { path, stat }: OpenedFile, now: Date): FileAnswer {
  const size = Number(stat.size);
  const validators = validatorsOf(stat);
  const always = {
    etag: validators.etag,
    'last-modified': shownDate(validators.lastModified, now),
    'cache-control': isVersioned(path) ? 'public, max-age=31536000, immutable' : 'no-cache',
    'accept-ranges': 'bytes',
  };
  if (isNotModified(request.headers, validators)) return { status: 304, headers: always };
  const range = wantedRange(request, size, validators);
  if (range === 'unsatisfiable')
    return { status: 416, headers: { ...always, 'content-range': `bytes */${size}` } };
  const part = range ?? { start: 0, end: size - 1 };
  const own = { 'content-type': typeOf(path), 'content-length': part.end - part.start + 1 };
  if (!range) return { status: 200, headers: { ...always, ...own }, part };
  const place = { 'content-range': `bytes ${part.start}-${part.end}/${size}` };
  return { status: 206, headers: { ...always, ...own, ...place }, part };
}

/** Files are replaced whole, under a new inode. */
function validatorsOf({ ino, size, mtimeNs }: BigIntStats): Required<Validators> {
  const etag = `"${[mtimeNs, size, ino].map((number) => number.toString(36)).join('-')}"`;
  return { etag, lastModified: new Date(Number(mtimeNs / 1_000_000n)) };
}

/**
 * Dates count whole seconds. In the second in which a file was written it may be written once more: until that is over, the date given is the
 * second before, and whoever got that one is not told later that nothing has changed since.
 */
function shownDate(lastModified: Date, now: Date): string {
  const lastFullSecond = Math.floor(now.getTime() / 1_000) * 1_000 - 1_000;
  return new Date(Math.min(lastModified.getTime(), lastFullSecond)).toUTCString();
}

/** Baselines, change files and Subscriber records carry a part of their digest in their names; another content has another name. */
function isVersioned(path: string): boolean {
  return /\.[0-9a-f]{12}\.(?:changes\.)?json(?:\.gz)?$/.test(path);
}

/** A gzipped file is the file: it goes out as the bytes that it is, not as an encoding of others. */
function typeOf(path: string): string {
  if (path.endsWith('.json')) return 'application/json';
  return path.endsWith('.gz') ? 'application/gzip' : 'application/octet-stream';
}

/** A file that is replaced meanwhile is sent as it was: it has lost its name, not its content. */
async function send(
  { handle, stat }: OpenedFile,
  { status, headers, part }: FileAnswer,
  { method }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  reply.code(status).headers(headers);
  if (part && part.end >= part.start && method !== 'HEAD') {
    cutOffIdleReader(reply);
    return reply.send(handle.createReadStream({ ...part, highWaterMark: pieceBytes })); // which closes it
  }
  await handle.close();
  if (status !== 416) return reply.send();
  throw new ProtocolError('SCH_SCHEMA_VALIDATION_FAILED', `The file has ${stat.size} bytes.`, { status });
}

const pieceBytes = 256 * 1024;
