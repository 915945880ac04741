import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PlainOperation } from '../http/openapi.ts';
import { parseQuery } from '../protocol/envelope.ts';
import type { Static, TObject, TSchema } from '../protocol/type.ts';
import { prepareValidator, validator } from '../protocol/validate.ts';
import type { Access } from './guard.ts';

/** A route of the operator's API. Its entry in the OpenAPI document also defines its checks and the return type of its handler. */
interface Route<P extends string, Q extends TObject, B extends TSchema, A extends TSchema>
  extends PlainOperation {
  query?: Q;
  /** A request without a body counts as one with an empty object. */
  body?: B;
  answer?: A;
  access?: Access;
  bodyLimit?: number;
  stays?: boolean;
  /** Returns the answer, or its text if it is already rendered. */
  handle(
    asked: Asked<P, Q, B>,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Unsent<Static<A>> | string>;
}

interface Asked<P extends string, Q extends TObject, B extends TSchema> {
  params: Params<P>;
  query: Static<Q>;
  body: Static<B>;
}

/** The names in a path: `owner` and `id` of `/api/catalogs/:owner/:id`. */
type Params<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & Params<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Record<Name, string>
    : object;

/** A handler's answer before serialization: JSON turns dates into texts. */
export type Unsent<T> = T extends string
  ? string extends T
    ? T | Date
    : T
  : T extends object
    ? { [K in keyof T]: Unsent<T[K]> }
    : T;

/** @param name method and path, such as `GET /api/catalogs/:owner/:id` */
export function addRoute<
  P extends `${'GET' | 'POST' | 'DELETE'} /${string}`,
  Q extends TObject,
  B extends TSchema,
  A extends TSchema,
>(
  server: FastifyInstance,
  name: P,
  { access, bodyLimit, stays, handle, ...operation }: Route<P, Q, B, A>,
): void {
  const [method = '', url = ''] = name.split(' ');
  const { query, body } = operation;
  if (body) prepareValidator(body);
  server.route({
    ...{ method, url, bodyLimit, config: { operation, access, stays } },
    async handler(request, reply) {
      const asked = {
        query: query && parseQuery(query, request.query),
        body: body && validator(body)(request.body ?? {}),
        params: request.params,
      };
      return handle(asked as Asked<P, Q, B>, request, reply);
    },
  });
}
