import type { FastifyInstance } from 'fastify';
import type { PlainOperation } from '../http/openapi.ts';
import { parseQuery } from '../protocol/envelope.ts';
import { faultAt } from '../protocol/fault.ts';
import { type Static, type TObject, type TSchema, Type } from '../protocol/type.ts';
import { validator } from '../protocol/validate.ts';

// Lists are paged by keyset: a cursor holds the sort key of the last item, and the next page begins after it, whatever has been added or removed
// meanwhile. However long a list is, a page costs the same.

const defaultLimit = 50;
const maxLimit = 200;

export const ListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxLimit, default: defaultLimit })),
  after: Type.Optional(
    Type.String({ maxLength: 4_096, description: '`next` of the page before: the list goes on after it.' }),
  ),
});

// A cursor comes back from outside, altered or not, and goes into a statement: its members are only what PostgreSQL can hold.

export const CursorText = Type.String({ pattern: '^[^\\u0000]*$' });
export const CursorKey = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Milliseconds since 1970, as far as a Date goes. */
export const CursorTime = Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 });

type AskedList<S extends TSchema, C extends TSchema> = Omit<Static<S>, 'limit' | 'after'> & {
  limit: number;
  after?: Static<C>;
};

export function parseListQuery<S extends typeof ListQuery, C extends TSchema>(
  schema: S,
  query: unknown,
  cursor: C,
): AskedList<S, C> {
  const {
    limit = defaultLimit,
    after,
    ...filter
  } = parseQuery(schema as TObject, query) as { limit?: number; after?: string };
  const position = after === undefined ? undefined : readCursor(after, cursor);
  return { ...filter, limit, ...(position !== undefined && { after: position }) } as never;
}

export function addList<S extends typeof ListQuery, C extends TSchema, T extends TSchema>(
  server: FastifyInstance,
  path: string,
  { query: schema = ListQuery as S, cursor, read, ...about }: ListRoute<S, C, T>,
): void {
  const operation: PlainOperation = { ...about, query: schema };
  server.get(path, { config: { operation } }, async ({ query }) =>
    read(parseListQuery(schema, query, cursor)),
  );
}

interface ListRoute<S extends typeof ListQuery, C extends TSchema, T extends TSchema>
  extends Pick<PlainOperation, 'summary' | 'description' | 'tag'> {
  query?: S;
  cursor: C;
  answer: ReturnType<typeof listOf<T>>;
  read(asked: AskedList<S, C>): Promise<Page<Static<T>>>;
}

export function pageOf<T extends object>(
  rows: readonly T[],
  limit: number,
  keyOf: (row: T) => object,
): { items: WithoutNulls<T>[]; next?: string } {
  return { items: rows.map(withoutNulls), next: nextCursor(rows, limit, keyOf) };
}

export function nextCursor<T>(
  items: readonly T[],
  limit: number,
  keyOf: (item: T) => object,
): string | undefined {
  const last = items.at(-1);
  if (last === undefined || items.length < limit) return undefined;
  return renderCursor(keyOf(last));
}

export function renderCursor(key: object): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

export function withoutNulls<T extends object>(item: T): WithoutNulls<T> {
  const members = Object.entries(item).filter(([, value]) => value !== null);
  return Object.fromEntries(members) as WithoutNulls<T>;
}

type WithoutNulls<T> = { [K in keyof T as null extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as null extends T[K] ? K : never]?: Exclude<T[K], null>;
};

/** An answer as a handler returns it: JSON makes texts of dates. */
export type Unsent<T> = T extends string
  ? string extends T
    ? T | Date
    : T
  : T extends object
    ? { [K in keyof T]: Unsent<T[K]> }
    : T;

export interface Page<T> {
  items: Unsent<T>[];
  next?: string;
}

function readCursor<C extends TSchema>(text: string, schema: C): Static<C> {
  try {
    return validator(schema)(JSON.parse(Buffer.from(text, 'base64url').toString()));
  } catch {
    throw faultAt('SCH_SCHEMA_VALIDATION_FAILED', ['query', 'after'], 'is no cursor of this list');
  }
}

export function listOf<S extends TSchema>(title: string, item: S) {
  return Type.Object(
    {
      items: Type.Array(item),
      next: Type.Optional(Type.String({ description: 'The cursor of the next page, where there is one.' })),
    },
    { title },
  );
}
