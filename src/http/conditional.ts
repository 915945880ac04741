import type { IncomingHttpHeaders } from 'node:http';

// Conditional requests and ranges (RFC 9110, sections 13 and 14): a caller that has the content, or a part of it, does not get it again.

export interface Validators {
  /** Strong, in its quotes. */
  etag: string;
  lastModified?: Date;
}

/** Whether a GET or HEAD is answered with 304. Where the caller knows an ETag, its date is not looked at. */
export function isNotModified(headers: IncomingHttpHeaders, { etag, lastModified }: Validators): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined) return namesTag(tags, etag);
  const since = parseHttpDate(headers['if-modified-since']);
  return (
    since !== undefined && lastModified !== undefined && wholeSeconds(lastModified) <= wholeSeconds(since)
  );
}

/** The part that is asked for: by GET only, because for other methods no ranges are defined (RFC 9110, section 14.2). */
export function wantedRange(
  { method, headers }: { method: string; headers: IncomingHttpHeaders },
  size: number,
  validators: Validators,
): ByteRange | 'unsatisfiable' | undefined {
  if (method !== 'GET' || isOtherContent(headers, validators)) return undefined;
  return parseRange(headers.range, size);
}

/** Whether a part is wanted only of the content that the caller has the rest of, and it is another one. */
function isOtherContent(headers: IncomingHttpHeaders, { etag, lastModified }: Validators): boolean {
  const known = headers['if-range'];
  if (known === undefined || known === etag) return false;
  const date = parseHttpDate(String(known));
  return (
    date === undefined || lastModified === undefined || wholeSeconds(date) !== wholeSeconds(lastModified)
  );
}

/** Weakly compared: for a whole content, as good as the same is good enough. */
function namesTag(header: string, etag: string): boolean {
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

/** A date that is none is ignored, as if it were not there. */
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

/** The one range of bytes that a Range header asks for (RFC 9110, section 14). Several ranges, other units and malformed ones are ignored. */
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
