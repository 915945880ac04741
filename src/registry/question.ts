import { isIdPart } from '../protocol/identity.ts';
import type { RegistryErrorCode } from '../protocol/registry-answers.ts';
import { type RecordState, recordStates } from '../protocol/registry-record.ts';
import { isDate, parseInstant } from '../protocol/time.ts';
import { type AtVersion, type ListFilter, listOrders } from '../storage/registry/records.ts';

// Parses the requests of DeDi clients: names in the path; a page, a version or a time in the query.

/** Answered with `{message, code}`. */
export class RegistryRefusal extends Error {
  override readonly name = 'RegistryRefusal';
  readonly code: RegistryErrorCode;
  readonly status: number;

  constructor(code: RegistryErrorCode, message: string) {
    super(message);
    this.code = code;
    this.status = code === 'NOT_FOUND' ? 404 : 400;
  }
}

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
  return { version: /^[1-9]\d{0,8}$/.test(String(version)) ? Number(version) : 0 };
}

/** A date is the whole day, in UTC: the state at its end. */
export function parseAsOn(query: QueryText): Date | undefined {
  return query.as_on === undefined ? undefined : parseMoment('as_on', query.as_on, endOfDay);
}

function parseMoment(name: string, text: unknown, timeOfDate: string): Date {
  const moment =
    typeof text !== 'string' ? undefined : parseInstant(isDate(text) ? `${text}${timeOfDate}` : text);
  if (moment === undefined)
    throw invalid(`${name} must be a date (2026-01-31) or a date-time (2026-01-31T12:00:00Z).`);
  return moment;
}

/** An empty filter is none; one that cannot be read is refused. `state` is its name: DeDi has `state` for records, `status` for registries. */
export function parseFilter(query: QueryText, state: 'state' | 'status'): ListFilter {
  const { name, from, to, sort } = Object.fromEntries(
    Object.entries(query).filter(([, text]) => text !== ''),
  );
  return {
    ...(query[state] !== undefined && query[state] !== '' && { state: parseState(state, query[state]) }),
    ...(name !== undefined && { name: parseName(name) }),
    ...(from !== undefined && { from: parseMoment('from', from, startOfDay) }),
    ...(to !== undefined && { to: parseMoment('to', to, endOfDay) }),
    order: sort === undefined ? 'name' : parseOrder(sort),
  };
}

/** Registries and their records are live where others call them active. */
function parseState(name: string, given: unknown): RecordState | 'inactive' {
  const known = [...recordStates, 'active', 'inactive'] as const;
  const state = known.find((each) => each === given);
  if (state === undefined) throw invalid(`${name} must be one of ${known.join(', ')}.`);
  return state === 'active' ? 'live' : state;
}

function parseName(given: unknown): string {
  if (typeof given !== 'string' || given.includes('\0')) throw invalid('name must be a part of a name.');
  return given;
}

function parseOrder(given: unknown): ListFilter['order'] {
  const order = listOrders.find((each) => each === (given === 'state' ? 'status' : given));
  if (order === undefined) throw invalid(`sort must be one of ${listOrders.join(', ')}.`);
  return order;
}

/** Anything that is no page number gets the first page of the usual size. */
export function parsePage(query: QueryText) {
  const number = within(query.page, 1, maxPageNumber) ?? 1;
  const size = within(query.page_size, 1, maxPageSize) ?? defaultPageSize;
  return { number, size, limit: size, offset: (number - 1) * size };
}

const startOfDay = 'T00:00:00Z';
const endOfDay = 'T23:59:59.999Z';
const defaultPageSize = 1_000;
const maxPageSize = 1_000;
const maxPageNumber = 1_000_000;

function within(value: unknown, min: number, max: number): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  return number >= min ? Math.min(number, max) : undefined;
}

function invalid(message: string): RegistryRefusal {
  return new RegistryRefusal('INVALID_PARAMETER', message);
}
