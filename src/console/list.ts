import type { FastifyInstance } from 'fastify';
import type { PlainOperation } from '../http/openapi.ts';
import { faultAt } from '../protocol/fault.ts';
import { type Static, type TObject, type TProperties, type TSchema, Type } from '../protocol/type.ts';
import { validator } from '../protocol/validate.ts';
import { addRoute, type Unsent } from './route.ts';

// Lists are paged by keyset: a cursor holds the sort key of the last item, and the next page starts after it, whatever was added or removed
// meanwhile. A page costs the same at any length of the list.

const defaultLimit = 50;
const maxLimit = 200;

const ListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxLimit, default: defaultLimit })),
  after: Type.Optional(Type.String({ maxLength: 4_096, description: '`next` of the previous page.' })),
});

// A cursor comes from clients, perhaps altered, and goes into a statement, so its members are limited to values that PostgreSQL can hold.

export const CursorText = Type.String({ pattern: '^[^\\u0000]*$' });
export const CursorKey = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Milliseconds since 1970, up to the limit of Date. */
export const CursorTime = Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 });

interface ListRoute<F extends TProperties, C extends TSchema, A extends TSchema>
  extends Pick<PlainOperation, 'summary' | 'description' | 'tag'> {
  filter?: F;
  cursor: C;
  answer: A;
  read(asked: AskedList<F, C>): Promise<Unsent<Static<A>>>;
}

type AskedList<F extends TProperties, C extends TSchema> = Static<TObject<F>> & {
  limit: number;
  after?: Static<C>;
};

export function addList<C extends TSchema, A extends TSchema, F extends TProperties = Record<never, never>>(
  server: FastifyInstance,
  path: `/${string}`,
  { filter, cursor, read, ...about }: ListRoute<F, C, A>,
): void {
  const query: TObject = Type.Object({ ...ListQuery.properties, ...filter });
  addRoute(server, `GET ${path}`, {
    ...{ ...about, query: query as typeof ListQuery },
    async handle({ query: { limit = defaultLimit, after: text, ...chosen } }) {
      const after = text === undefined ? undefined : readCursor(text, cursor);
      return read({ ...chosen, limit, after } as AskedList<F, C>);
    },
  });
}

export function pageOf<T extends object>(rows: readonly T[], limit: number, keyOf: (row: T) => object) {
  return { items: rows.map(withoutNulls), next: nextCursor(rows, limit, keyOf) };
}

export function nextCursor<T>(items: readonly T[], limit: number, keyOf: (item: T) => object) {
  const last = items.at(-1);
  return last === undefined || items.length < limit ? undefined : renderCursor(keyOf(last));
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

export interface Page<T> {
  items: Unsent<T>[];
  next?: string;
}

function readCursor<C extends TSchema>(text: string, schema: C): Static<C> {
  try {
    return validator(schema)(JSON.parse(Buffer.from(text, 'base64url').toString()));
  } catch {
    throw faultAt('SCH_SCHEMA_VALIDATION_FAILED', ['query', 'after'], 'is not a cursor of this list');
  }
}

export function listOf<S extends TSchema>(title: string, item: S) {
  return Type.Object(
    {
      items: Type.Array(item),
      next: Type.Optional(Type.String({ description: 'The cursor of the next page, if there is one.' })),
    },
    { title },
  );
}
