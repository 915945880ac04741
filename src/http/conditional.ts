import type { IncomingHttpHeaders } from 'node:http';

// Conditional requests and ranges (RFC 9110, sections 13 and 14): a caller that has the content, or a part of it, does not get it again.

export interface Validators {
  /** Strong, with its quotes. */
  etag: string;
  lastModified?: Date;
}

/** Whether a GET or HEAD is answered with 304. If the caller sends an ETag, its date is ignored. */
export function isNotModified(headers: IncomingHttpHeaders, { etag, lastModified }: Validators): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined) return namesTag(tags, etag);
  const since = parseHttpDate(headers['if-modified-since']);
  if (since === undefined || lastModified === undefined) return false;
  return wholeSeconds(lastModified) <= wholeSeconds(since);
}

/** The requested part: only for GET, because ranges are not defined for other methods (RFC 9110, section 14.2). */
export function wantedRange(
  { method, headers }: { method: string; headers: IncomingHttpHeaders },
  size: number,
  validators: Validators,
): ByteRange | 'unsatisfiable' | undefined {
  if (method !== 'GET' || isOtherContent(headers, validators)) return undefined;
  return parseRange(headers.range, size);
}

/** Whether If-Range names other content than the current one: the caller's parts would not fit together. */
function isOtherContent(headers: IncomingHttpHeaders, { etag, lastModified }: Validators): boolean {
  const known = headers['if-range'];
  if (known === undefined || known === etag) return false;
  const date = parseHttpDate(String(known));
  if (date === undefined || lastModified === undefined) return true;
  return wholeSeconds(date) !== wholeSeconds(lastModified);
}

/** Weak comparison: sufficient for a whole content. */
function namesTag(header: string, etag: string): boolean {
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

/** An invalid date is ignored, like a missing one. */
function parseHttpDate(header: string | undefined): Date | undefined {
  const date = new Date(header ?? '');
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function wholeSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1_000);
}

export interface ByteRange {
  start: number;
  end: number;
}

/** The single range of bytes that a Range header requests (RFC 9110, section 14). Several ranges, other units and malformed ones are ignored. */
export function parseRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '') {
    const last = Math.min(Number(to), size);
    return last === 0 ? 'unsatisfiable' : { start: size - last, end: size - 1 };
  }
  const start = Number(from);
  const end = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (to !== '' && Number(to) < start) return undefined;
  return start >= size ? 'unsatisfiable' : { start, end };
}
