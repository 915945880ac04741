import type { IncomingHttpHeaders } from 'node:http';
import { type ByteRange, parseRange } from './byte-range.ts';

// Conditional requests (RFC 9110, section 13): a caller that has the content already is told so, and nothing else; one that has a part of it gets
// the rest.

/** What tells one state of a content from another. */
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
