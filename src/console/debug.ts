import type { FastifyInstance } from 'fastify';
import { attempt } from '../attempt.ts';
import type { Config } from '../config.ts';
import { signedLimits } from '../http/signed-limits.ts';
import {
  debugSignature,
  findClaimedKey,
  type KnownKeys,
  type SignatureDiagnosis,
  type SignatureQuestion,
} from '../protocol/debug-signature.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { identityOf } from '../protocol/identity.ts';
import { parsePublicKey } from '../protocol/keys.ts';
import type { ParticipantRecord } from '../protocol/registry-record.ts';
import { DateTime, titled } from '../protocol/shapes.ts';
import { Type } from '../protocol/type.ts';
import type { RegistryClient } from '../registry/client.ts';
import { SignatureAnswer } from './answers/debug.ts';
import type { ConsoleContext } from './context.ts';
import { addRoute } from './route.ts';

export function addDebugRoutes(server: FastifyInstance, context: ConsoleContext): void {
  addRoute(server, 'POST /api/debug/signature', {
    summary: 'Explain why a signature is valid, or what makes it invalid.',
    body: titled('DebugSignatureRequest', {
      header: Type.String({
        minLength: 1,
        maxLength: maxHeaderLength,
        description: 'The value of Authorization (or Signature), the header, or all headers of a request.',
      }),
      body: Type.String({
        maxLength: maxBodyLength,
        description: 'Exactly as it was sent; empty for GET and DELETE.',
      }),
      now: Type.Optional(DateTime),
      requestAuthorization: Type.Optional(
        Type.String({ maxLength: maxHeaderLength, description: 'Of the request that this answers.' }),
      ),
    }),
    answer: SignatureAnswer,
    access: 'read',
    bodyLimit: maxRequestBytes,
    handle: ({ body: { header, body, now, requestAuthorization } }) =>
      diagnoseSignature(context.outside.freshRegistry(), context.config, {
        ...{ header, body, requestAuthorization },
        now: now === undefined ? context.now() : new Date(now),
      }),
  });
}

export async function diagnoseSignature(
  registry: RegistryClient,
  config: Config,
  question: Omit<SignatureQuestion, 'limits'>,
): Promise<SignatureDiagnosis & { key?: FoundKey }> {
  const { keys, key } = await findKeys(registry, config, question.header);
  return { ...debugSignature({ ...question, limits: signedLimits(config) }, keys), ...(key && { key }) };
}

export type FoundKey = NonNullable<SignatureAnswer['key']>;

const maxBodyLength = 1024 * 1024;
const maxHeaderLength = 65_536;
/** In the JSON of the request, a quotation mark or a line end takes two bytes. */
const maxRequestBytes = 2 * (maxBodyLength + 2 * maxHeaderLength);

async function findKeys(
  registry: RegistryClient,
  config: Config,
  header: string,
): Promise<{ keys: KnownKeys; key?: FoundKey }> {
  const claimed = findClaimedKey(header);
  if (!claimed) return { keys: { lookup: { kind: 'unknown-subscriber' }, others: [] } };
  const { subscriberId, recordId } = claimed;
  const identity = identityOf(subscriberId, config.REGISTRY_NAME);
  try {
    const lookup = await registry.findKey(subscriberId, recordId);
    const records = await registry.listRecords(identity);
    const own = await Promise.all(
      Object.values(config.identities).map(({ id }) =>
        registry.listRecords(identityOf(id, config.REGISTRY_NAME)).catch(() => []),
      ),
    );
    const record = records.find((one) => one.recordId === recordId || one.recordName === recordId);
    return {
      keys: { lookup, others: [...records, ...own.flat()].flatMap(nameKey) },
      key: {
        ...{ identity, recordId, state: lookup.kind === 'key' ? 'usable' : lookup.kind },
        publicKey: record?.signingPublicKey || undefined,
      },
    };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return { keys: { lookup: { kind: 'unavailable', reason: error.message }, others: [] } };
  }
}

function nameKey(record: ParticipantRecord): KnownKeys['others'] {
  const { recordId, subscriberId, signingPublicKey = '' } = record;
  const publicKey = attempt(() => parsePublicKey(signingPublicKey));
  return publicKey ? [{ name: `the key ${recordId} of ${subscriberId}`, publicKey }] : [];
}
