import type { Callback } from '../../delivery/receive-callback.ts';
import type { FetchedAnswer } from '../../http/guarded-client.ts';
import { readTruncated, truncatedHeader } from '../../protocol/discover-messages.ts';
import { endpoints } from '../../protocol/endpoints.ts';
import { isJsonObject, type Json, parseIfJson } from '../../protocol/json.ts';
import { type Nack, readNack } from '../../protocol/nack.ts';
import type { OnPublishMessage } from '../../protocol/publish-messages.ts';
import { parseSignatureHeader, verifySignature } from '../../protocol/request-signature.ts';
import type { RegistryClient } from '../../registry/client.ts';
import { CommandError, reasonOf } from '../command.ts';
import { renderProblems } from '../publish/report.ts';
import type { SendableRequest } from './request.ts';

export type ReceivedAnswer = Awaited<ReturnType<typeof readAnswer>>;

type SignatureCheck =
  | { holds: true; signer: string; recordId: string /** In the registry. */; url?: string }
  | { holds: false; reason: string };

export async function readAnswer(
  response: FetchedAnswer,
  requestSignature: string,
  registry: RegistryClient,
) {
  return {
    status: response.status,
    body: parseIfJson(response.body),
    signature: await checkSignature(response, requestSignature, registry),
    date: response.headers.date,
    /** Number of resources in the full callback, if the service reports that it was cut. */
    truncated: readTruncated(response.headers[truncatedHeader]),
  };
}

/** Whether it is a 2xx without NACK in the body. */
export function isAccepted({ status, body }: ReceivedAnswer): boolean {
  return status >= 200 && status < 300 && acknowledgementOf(body) !== 'NACK';
}

/** Throws if the body of a 2xx has no ACK, for example from a web server: no callback would follow. A 202 has an ACK too (catalog spec, Errors). */
export function requireAck({ url }: SendableRequest, { status, body }: ReceivedAnswer, service: string) {
  if (acknowledgementOf(body) === 'ACK') return;
  throw new CommandError(
    `${url} answered ${status}, but acknowledged nothing. Is that the address of a ${service}?`,
  );
}

export function renderAnswer({ method, url }: SendableRequest, { status, body, signature }: ReceivedAnswer) {
  const acknowledgement = acknowledgementOf(body);
  return [
    `${method} ${url}`,
    `${status}${acknowledgement ? ` ${acknowledgement}` : ''}`,
    typeof body === 'string' ? body : JSON.stringify(body, null, 2),
    renderSignature(signature),
  ].join('\n');
}

const notSigned = 'it is not signed';

function renderSignature(check: SignatureCheck): string {
  if (check.holds) return `The answer's signature is valid: ${check.signer}, ${check.recordId}.`;
  if (check.reason === notSigned) return 'The answer is not signed.';
  return `The answer's signature is not valid: ${check.reason}.`;
}

export function renderCallback({ signer, recordId, chained, bound, context, message }: Callback): string {
  return [
    '',
    `${context.action} from ${signer}, ${recordId}: the signature is valid${chained ? ' and covers the signature of the request' : ''}.`,
    bound ? 'Its requestDigest matches the request.' : 'It has no requestDigest.',
    JSON.stringify({ context, message }, null, 2),
  ].join('\n');
}

export function findShortcomings({ context, message }: Callback): string[] {
  const { results } = message as Partial<OnPublishMessage>;
  if (context.action !== endpoints.onPublish.name || !Array.isArray(results)) return [];
  if (results.length === 0) return ['It has no result for any catalog.'];
  return results
    .filter(({ status }) => status !== 'ACCEPTED')
    .map((result) => [`${result.catalogId} is ${result.status}.`, ...renderProblems(result)].join('\n'));
}

export function renderJson(
  { method, url, authorization, digest, body }: SendableRequest,
  answer: ReceivedAnswer,
  callback: Callback | undefined,
): string {
  const request = { method, url, authorization, digest, body: parseIfJson(body) };
  return JSON.stringify({ request, answer, callback }, null, 2);
}

export function readRefusal(body: Json) {
  return describeNack(readNack(body));
}

export function describeNack({ code = 'no error code', message = '', path }: Nack) {
  return { code, reason: path === undefined ? message : `${message} (${path})` };
}

async function checkSignature(
  { headers, body }: FetchedAnswer,
  requestSignature: string,
  registry: RegistryClient,
): Promise<SignatureCheck> {
  const value = headers.signature;
  if (value === undefined) return { holds: false, reason: notSigned };
  try {
    const header = parseSignatureHeader(value);
    const { subscriberId: signer, recordId } = header;
    if (!header.chained) return { holds: false, reason: 'it does not sign the signature of the request' };
    const lookup = await registry.findKey(signer, recordId);
    if (lookup.kind !== 'key') {
      const reason = lookup.kind === 'unusable' ? lookup.reason : lookup.kind.replace('-', ' ');
      return { holds: false, reason: `${signer}, ${recordId}: ${reason}` };
    }
    verifySignature(header, lookup.publicKey, body, requestSignature);
    return { holds: true, signer, recordId, url: lookup.record.url };
  } catch (error) {
    return { holds: false, reason: reasonOf(error) };
  }
}

function acknowledgementOf(body: Json): string | undefined {
  const status = isJsonObject(body) && isJsonObject(body.message) && body.message.status;
  return typeof status === 'string' ? status : undefined;
}
