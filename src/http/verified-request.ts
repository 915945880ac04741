import type { FastifyRequest } from 'fastify';
import type { Action } from '../protocol/actions.ts';
import type { Context } from '../protocol/context.ts';
import { type Envelope, parseEnvelope, parseQuery } from '../protocol/envelope.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { namesIdentity } from '../protocol/identity.ts';
import { type Json, parseJson } from '../protocol/json.ts';
import type { ParticipantRecord } from '../protocol/registry-record.ts';
import type { RequestKey } from '../protocol/remembered.ts';
import type { SignatureHeader } from '../protocol/request-signature.ts';
import type { Static, TSchema } from '../protocol/type.ts';
import type { AuthenticatedCaller } from './authenticate.ts';
import type { CostLimits } from './cost-limits.ts';
import { type LargeBodies, largeBodyBytes } from './large-bodies.ts';

/** Only `readRequest` makes it: the caller is authentic, and the message conforms to the action. */
export interface VerifiedRequest<A extends Action = Action>
  extends Omit<SignatureHeader, 'created' | 'expires'> {
  action: A;
  /** The caller, the key of ownership and limits. */
  identity: string;
  record: ParticipantRecord;
  digest: string;
  created: Date;
  /** When the signature expires; until then the same bytes may come again. */
  expires: Date;
  context: PartOf<A, 'context'>;
  message: PartOf<A, 'message'>;
  query: A['query'] extends TSchema ? Static<A['query']> : undefined;
  rawBody: Buffer;
  receivedAt: Date;
  /** When its last byte arrived, on the clock of performance.now(). */
  arrivedAt: number;
  /** Trace context of the span of its answer, if it is traced. */
  traceparent?: string;
  url: string;
  /** The key of the stored answer, for actions whose answers are remembered. */
  key: RequestKey;
}

type PartOf<A extends Action, Part extends 'context' | 'message'> = A['body'] extends TSchema
  ? Static<A['body']>[Part]
  : undefined;

export interface ReceivedRequest {
  raw: FastifyRequest;
  receivedAt: Date;
  body: Buffer;
  arrivedAt: number;
  json?: Json;
  /** messageId of a large body, which is read in a thread; a new one for GET and DELETE, which have none. */
  messageId?: string;
}

export interface Receiver {
  role: string;
  registryName: string;
  largeBodies?: Pick<LargeBodies, 'read'>;
  costs?: Pick<CostLimits, 'spendMs'>;
}

/** JSON → context → schema → named caller. The parsed parts stay in `received`, for the NACK. */
export async function readRequest<A extends Action>(
  receiver: Receiver,
  action: A,
  received: ReceivedRequest,
  { header, identity, record, digest }: AuthenticatedCaller,
): Promise<VerifiedRequest<A>> {
  const { role, registryName } = receiver;
  const { raw, body, receivedAt, arrivedAt } = received;
  const envelope = action.body && (await readEnvelope(receiver, action, received, identity));
  const query = action.query && parseQuery(action.query, raw.query as Record<string, unknown>);
  if (envelope && action.kind === 'request') {
    checkCaller(action, envelope.context, identity, record, registryName);
    envelope.context = nameCaller(action, envelope.context, header.subscriberId, record);
  }
  const { name, method } = action;
  const { created, expires, ...claimed } = header;
  return {
    ...claimed,
    action,
    identity,
    record,
    digest,
    created: new Date(created * 1000),
    expires: new Date(expires * 1000),
    // Just checked against the schemas of the action, from which these types are inferred.
    context: envelope?.context as VerifiedRequest<A>['context'],
    message: envelope?.message as VerifiedRequest<A>['message'],
    query: query as VerifiedRequest<A>['query'],
    rawBody: body,
    receivedAt,
    arrivedAt,
    url: raw.url,
    key: {
      ...{ role, identity, method, url: addressOf(action, query), action: name },
      messageId: envelope?.context.messageId ?? header.signature,
    },
  };
}

/** No signature covers the address: a repeat with an additional unknown parameter is a repeat. */
function addressOf({ path, query: schema }: Action, query: Record<string, unknown> | undefined): string {
  const known = Object.keys(schema?.properties ?? {}).filter((name) => query?.[name] !== undefined);
  const parameters = known.map((name) => `${name}=${encodeURIComponent(String(query?.[name]))}`);
  return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`;
}

/** The bytes decide, not Content-Type. They are never decompressed: the signed bytes are the parsed bytes. */
async function readEnvelope(
  { largeBodies, costs }: Receiver,
  action: Action,
  received: ReceivedRequest,
  owner: string,
): Promise<Envelope> {
  const encoding = received.raw.headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    const says = `The body is sent with Content-Encoding "${encoding}"; send it as plain JSON.`;
    throw new ProtocolError('SCH_SCHEMA_VALIDATION_FAILED', says);
  }
  const { body, receivedAt: now } = received;
  if (largeBodies && body.length >= largeBodyBytes) {
    const read = await largeBodies.read(body, { action, now, owner });
    received.messageId = read.messageId;
    costs?.spendMs(owner, read.spentMs);
    return read.envelope();
  }
  const began = performance.now();
  received.json ??= parseJson(body);
  const envelope = parseEnvelope(received.json, action, now);
  costs?.spendMs(owner, performance.now() - began);
  return envelope;
}

/** The caller named in the context must be the signer: bppId or bapId as the action requires, otherwise one of those present. */
function checkCaller(
  action: Action,
  { bppId, bapId }: Context,
  identity: string,
  record: ParticipantRecord,
  registryName: string,
): void {
  const sides = { bap: bapId, bpp: bppId };
  const asked = action.caller ? [action.caller] : (['bap', 'bpp'] as const);
  const present = asked.filter((side) => sides[side] !== undefined);
  const [first] = present;
  if (first === undefined) return;
  if (present.some((side) => namesIdentity(sides[side] ?? '', identity, record.subscriberId, registryName)))
    return;
  const named = present.map((side) => sides[side]).join(' or ');
  const says = `The request is signed by ${identity}, which is not ${named}.`;
  throw new ProtocolError('AUT_UNAUTHORIZED_ACTION', says, { path: `$.context.${first}Id` });
}

/** A request may omit its own id and address: then the signature and the registry name them. Callbacks repeat both. */
function nameCaller(
  { caller }: Action,
  context: Context,
  subscriberId: string,
  { url }: ParticipantRecord,
): Context {
  if (caller === undefined) return context;
  return { [`${caller}Id`]: subscriberId, ...(url !== undefined && { [`${caller}Uri`]: url }), ...context };
}
