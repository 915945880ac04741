import { signTimes } from '../../delivery/bodiless-signature.ts';
import { bodyDigest } from '../../protocol/digest.ts';
import { type Endpoint, endpoints } from '../../protocol/endpoints.ts';
import { fillIn } from '../../protocol/fill-in.ts';
import { isJsonObject, type Json, type JsonObject, parseIfJson, parseJson } from '../../protocol/json.ts';
import type { SigningKey } from '../../protocol/keys.ts';
import { findMessageId } from '../../protocol/message-id.ts';
import { parseSignatureHeader, signRequest } from '../../protocol/request-signature.ts';
import { CommandError, reasonOf } from '../command.ts';

export type Method = Endpoint['method'];

export interface DraftOptions {
  to: string;
  method: Method;
  action?: string;
  verbatim?: boolean;
  answering?: string;
  bytes: Buffer;
}

export type Draft = ReturnType<typeof prepareDraft>;
export type SendableRequest = ReturnType<typeof buildRequest>;

/** The request to send. A verbatim request has no document, and no action if its address is unknown. */
export function prepareDraft(options: DraftOptions) {
  const { to, method, verbatim, answering, bytes } = options;
  if (method === 'POST' && bytes.length === 0)
    throw new CommandError('POST needs a file (or - for standard input) that is not empty.');
  if (method !== 'POST' && bytes.length > 0) throw new CommandError(`${method} has no body: omit the file.`);
  const document = verbatim || method !== 'POST' ? undefined : parseDocument(bytes);
  const action = findAction(options, document);
  if (!action && !verbatim) throw unknownAction(options, document);
  return { method, url: addressOf(to, action), action, document, bytes, answering };
}

/** Builds a different request at each call: new id, time and signature. */
export function buildRequest(
  { method, url, action, document, bytes, answering }: Draft,
  { self, uri, now }: { self: SigningKey; uri: string; now: Date },
) {
  const filled = document && action && fillIn(document, { action, id: self.subscriberId, uri, now });
  const body = filled ? Buffer.from(JSON.stringify(filled)) : bytes;
  const authorization = signRequest(self, body, { ...signTimes(method, now), answering });
  return {
    method,
    url,
    body,
    authorization,
    /** The text of the signature attribute, which answers sign. */
    signature: parseSignatureHeader(authorization).signature,
    digest: bodyDigest(body),
    messageId: findMessageId(filled ?? parseIfJson(bytes)),
  };
}

function findAction({ action: named, method, to }: DraftOptions, document: Json | undefined) {
  const candidates: Endpoint[] = Object.values(endpoints).filter((action) => action.method === method);
  const byName = (name: unknown) => candidates.find((action) => action.name === name);
  if (named !== undefined) return byName(named);
  const path = pathOf(to);
  return candidates.find((action) => path.endsWith(action.path)) ?? byName(contextOf(document)?.action);
}

function unknownAction({ action, method }: DraftOptions, document: Json | undefined): CommandError {
  const named = action ?? contextOf(document)?.action;
  const what =
    typeof named === 'string'
      ? `There is no action ${named} with ${method}.`
      : 'Neither the address nor the file (context.action) names an action.';
  const known = Object.values(endpoints).filter((one) => one.method === method);
  const names = known.map(({ name }) => name).join(', ');
  return new CommandError(
    `${what} Give --action, one of: ${names}; or --verbatim to send the file as it is.`,
  );
}

/** An address that ends in the action's path is used unchanged. Otherwise it is a base, and the path is appended with one slash. */
function addressOf(to: string, action: Endpoint | undefined): string {
  const url = new URL(to);
  const path = pathOf(to);
  if (action) url.pathname = path.endsWith(action.path) ? path : `${path}${action.path}`;
  return url.href;
}

function pathOf(url: string): string {
  return new URL(url).pathname.replace(/\/+$/, '');
}

function parseDocument(bytes: Buffer): JsonObject {
  let value: Json;
  try {
    value = parseJson(bytes);
  } catch (error) {
    throw new CommandError(`The file is not JSON: ${reasonOf(error)}. --verbatim sends it as it is.`, error);
  }
  if (!isJsonObject(value))
    throw new CommandError('The file is JSON, but not an object with context and message.');
  return value;
}

function contextOf(document: Json | undefined): JsonObject | undefined {
  return isJsonObject(document) && isJsonObject(document.context) ? document.context : undefined;
}
