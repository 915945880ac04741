import { isIdPart } from '../protocol/identity.ts';
import type { RegistryErrorCode } from '../protocol/registry-answers.ts';
import { isDate, parseInstant } from '../protocol/time.ts';
import type { AtVersion } from '../storage/participant-records.ts';

// What a DeDi client asks the registry role: names in the path, a page, a version or a moment in the query.

/** Answered with `{message, code}`. */
export class RegistryRefusal extends Error {
  override readonly name = 'RegistryRefusal';
  readonly code: RegistryErrorCode;
  readonly status: number;

  constructor(code: RegistryErrorCode, message: string) {
    super(message);
    this.code = code;
    this.status = statuses[code];
  }
}

const statuses: Record<RegistryErrorCode, number> = {
  NOT_FOUND: 404,
  INVALID_PARAMETER: 400,
};

export type QueryText = Record<string, unknown>;

/** Under other names nothing can be registered, and some of them (with U+0000) no database can be asked for. */
export function isName(params: object): boolean {
  return Object.values(params).every((name) => typeof name === 'string' && isIdPart(name));
}

/** The number of a version that no record can have finds nothing; it is no mistake (DeDi: version_id is any text). */
export function parseAtVersion(query: QueryText): AtVersion {
  const asOn = parseAsOn(query);
  const { version_id: version } = query;
  if (version === undefined) return asOn === undefined ? {} : { asOn };
  if (asOn !== undefined) throw invalid('Give either version_id or as_on, not both.');
  return { version: isVersion(version) ? Number(version) : 0 };
}

/** A date is the whole day, in UTC: the state at its end. */
export function parseAsOn({ as_on: text }: QueryText): Date | undefined {
  if (text === undefined) return undefined;
  const moment =
    typeof text !== 'string' ? undefined : parseInstant(isDate(text) ? `${text}${endOfDay}` : text);
  if (moment === undefined)
    throw invalid('as_on is a date (2026-01-31) or a date-time (2026-01-31T12:00:00Z).');
  return moment;
}

export interface Page {
  number: number;
  size: number;
  limit: number;
  offset: number;
}

/** Anything that is no page number gets the first page of the usual size. */
export function parsePage(query: QueryText): Page {
  const number = within(query.page, 1, maxPageNumber) ?? 1;
  const size = within(query.page_size, 1, maxPageSize) ?? defaultPageSize;
  return { number, size, limit: size, offset: (number - 1) * size };
}

const endOfDay = 'T23:59:59.999Z';
const defaultPageSize = 1_000;
const maxPageSize = 1_000;
const maxPageNumber = 1_000_000;

function isVersion(value: unknown): boolean {
  return typeof value === 'string' && /^[1-9]\d{0,8}$/.test(value);
}

function within(value: unknown, min: number, max: number): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  return number >= min ? Math.min(number, max) : undefined;
}

function invalid(message: string): RegistryRefusal {
  return new RegistryRefusal('INVALID_PARAMETER', message);
}
