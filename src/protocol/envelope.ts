/**
 * How a request is parsed (catalog spec: Context, Errors). The answer has the first fault, in this order: JSON, missing context fields, bad context
 * values, action, version, ttl, the rest of the envelope, the schema of the message, and constraints between its parts.
 */

import type { Action } from './actions.ts';
import type { Context } from './context.ts';
import { protocolVersion } from './endpoints.ts';
import { faultAt } from './fault.ts';
import { isJsonObject, type JsonObject, parseJson } from './json.ts';
import { endOfDuration, parseInstant } from './time.ts';
import type { Static, TObject, TSchema } from './type.ts';
import { prepareValidator, validator } from './validate.ts';

export interface Envelope<C = Context, M = unknown> {
  context: C;
  message: M;
}

type EnvelopeOf<A extends Action> = A extends { body: { properties: { context: infer C; message: infer M } } }
  ? Envelope<C extends TSchema ? Static<C> : never, M extends TSchema ? Static<M> : never>
  : never;

export function parseEnvelope<A extends Action>(body: unknown, action: A, now: Date): EnvelopeOf<A> {
  if (!action.body) throw new TypeError(`${action.method} ${action.path} has no body`);
  const value = body instanceof Uint8Array ? parseJson(body) : body;
  const schema = action.body.properties;
  if (!isJsonObject(value)) throw faultAt('SCH_SCHEMA_VALIDATION_FAILED', [], 'must be an object');
  if (!Object.hasOwn(value, 'context')) throw faultAt('CTX_MISSING_FIELD', ['context'], 'is missing');
  const given = withoutPlaceholder(value.context, action);
  const context = validator(schema.context)(given, ['context']) as Context;
  checkRouting(context, action, now);
  checkMembers(value, action.kind);
  const message = validator(schema.message)(value.message, ['message']);
  action.check?.(message);
  return { context, message } as EnvelopeOf<A>;
}

/** Sample payloads of the network have this text for the caller's own address and are sent unchanged: it counts as omitted. */
const placeholder = 'PLACEHOLDER';

function withoutPlaceholder(context: unknown, { kind, caller }: Action): unknown {
  const own = `${caller}Uri`;
  if (kind !== 'request' || !isJsonObject(context) || context[own] !== placeholder) return context;
  const { [own]: _, ...others } = context;
  return others;
}

/** So that the first message of an action is parsed as fast as the others. */
export function prepareToRead({ body, query }: Action): void {
  if (body) for (const schema of [body.properties.context, body.properties.message]) prepareValidator(schema);
  if (query) prepareValidator(query);
}

/** Query parameters are texts: a text is parsed as a number if the schema requires one, and unknown parameters are ignored. */
export function parseQuery<S extends TObject>(schema: S, query: unknown): Static<S> {
  const entries = Object.entries(query as Record<string, unknown>).map(([name, value]) => [
    name,
    readParameter(schema.properties[name], value),
  ]);
  return validator(schema)(Object.fromEntries(entries), ['query']);
}

function readParameter(schema: object | undefined, value: unknown): unknown {
  const isNumeric = schema && 'type' in schema && schema.type === 'integer';
  return isNumeric && typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
}

function checkRouting(context: Context, action: Action, now: Date): void {
  if (context.action !== action.name)
    throw faultAt('CTX_ACTION_MISMATCH', ['context', 'action'], `must be ${action.name} at this endpoint`);
  if (context.version !== protocolVersion)
    throw faultAt('CTX_VERSION_UNSUPPORTED', ['context', 'version'], `must be ${protocolVersion}`);
  // A callback repeats the ttl of its request, and its bytes are kept for retries: it is never too late.
  if (action.kind === 'request' && hasElapsed(context, now))
    throw faultAt('CTX_TTL_EXPIRED', ['context', 'ttl'], `has elapsed since ${context.timestamp}`);
}

function checkMembers(body: JsonObject, kind: Action['kind']): void {
  if (!Object.hasOwn(body, 'message')) throw faultAt('SCH_REQUIRED_FIELD_MISSING', ['message'], 'is missing');
  const other = Object.keys(body).find((name) => name !== 'context' && name !== 'message');
  if (other !== undefined && kind === 'request')
    throw faultAt('SCH_FIELD_NOT_ALLOWED', [other], 'is not allowed here');
}

function hasElapsed({ timestamp, ttl }: Context, now: Date): boolean {
  const start = parseInstant(timestamp);
  return ttl !== undefined && start !== undefined && endOfDuration(start, ttl) <= now.getTime();
}
