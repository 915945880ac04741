/**
 * The registry role: a DeDi-compatible identity registry for development and small networks, over our storage.
 *
 * Reading is public; there is no way to write over HTTP (`signpost registry …` writes). The API answers under `/dedi`,
 * where the public DeDi service has it, and at the root.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isNotModified } from '../http/conditional.ts';
import type { PlainOperation } from '../http/openapi.ts';
import type { OperationsServer } from '../http/operations.ts';
import { createServer } from '../http/server.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { isIdPart } from '../protocol/identity.ts';
import {
  LookupAnswer,
  QueryAnswer,
  type RecordState,
  type RegistryRecord,
} from '../protocol/registry-record.ts';
import type { Database } from '../storage/database.ts';
import { findKeyRecord, type KeyRecord, listKeyRecords } from '../storage/participant-records.ts';

export interface RegistryRoleOptions {
  database: Database;
  logger: Logger;
  metrics: Metrics;
  host: string;
  /** 0 takes a free one. */
  port: number;
  operations?: OperationsServer;
  trustProxy?: string[];
  now?: () => Date;
}

export async function startRegistryRole(
  options: RegistryRoleOptions,
): Promise<{ url: string; close(): Promise<void> }> {
  const { database, logger, metrics, host, port, operations, trustProxy } = options;
  const ready = () => database.ping();
  const server = createServer({ role: 'registry', logger, metrics, ready, operations, trustProxy });
  addRegistryRoutes(server, options);
  const origin = await server.listen({ host, port });
  return { url: `${origin}/dedi`, close: () => server.close() };
}

export function addRegistryRoutes(
  server: FastifyInstance,
  { database, now = () => new Date() }: Pick<RegistryRoleOptions, 'database' | 'now'>,
): void {
  for (const base of ['/dedi', '']) {
    // Described once: the routes at the root are the same ones.
    const described = (operation: PlainOperation) => ({ config: base === '' ? {} : { operation } });

    server.get<{ Params: LookupParams }>(
      `${base}/lookup/:namespace/:registryName/:recordId`,
      described(lookupOperation),
      async (request, reply) => {
        const { recordId, ...subscriber } = request.params;
        const record = isName(request.params) && (await findKeyRecord(database, subscriber, recordId));
        if (!record) return reply.code(404).send({ message: 'There is no such record.' });
        const data = renderRecord(record, now());
        return sendCacheable(request, reply, { message: 'Record found.', data }, data.ttl);
      },
    );

    server.get<{ Params: QueryParams; Querystring: Record<string, unknown> }>(
      `${base}/query/:namespace/:registryName`,
      described(queryOperation),
      async (request, reply) => {
        const page = parsePage(request.query);
        const place = { limit: page.size, offset: (page.number - 1) * page.size };
        const { records, total } = isName(request.params)
          ? await listKeyRecords(database, request.params, place)
          : { records: [], total: 0 };
        const data = {
          namespace: request.params.namespace,
          registry_name: request.params.registryName,
          total_records: total,
          total_pages: Math.ceil(total / page.size),
          page_number: page.number,
          page_size: page.size,
          records: records.map((record) => renderRecord(record, now())),
        };
        return sendCacheable(request, reply, { message: `${total} records found.`, data }, queryTtlSeconds);
      },
    );
  }
}

const lookupOperation: PlainOperation = {
  summary: 'Look up one signing key of a participant.',
  answer: LookupAnswer,
  answers: { 304: 'Unchanged since the ETag in If-None-Match.', 404: 'There is no such record.' },
};

const queryOperation: PlainOperation = {
  summary: 'List the keys of a participant, or of the members of a network.',
  description: 'The two names are an identity or a networkId. page and page_size (up to 1000) turn pages.',
  answer: QueryAnswer,
  answers: { 304: 'Unchanged since the ETag in If-None-Match.' },
};

const defaultPageSize = 1_000;
const maxPageSize = 1_000;
const maxPageNumber = 1_000_000;
const queryTtlSeconds = 30;

interface QueryParams {
  namespace: string;
  registryName: string;
}

interface LookupParams extends QueryParams {
  recordId: string;
}

/** Under other names nothing can be registered, and some of them (with U+0000) no database can be asked for. */
function isName(params: QueryParams | LookupParams): boolean {
  return Object.values(params).every(isIdPart);
}

function renderRecord(record: KeyRecord, now: Date): RegistryRecord {
  const { recordId, subscriberId, url, type, domain, publicKey, validFrom, validUntil } = record;
  return {
    record_id: recordId,
    details: {
      subscriber_id: subscriberId,
      ...(url !== null && { url }),
      ...(type !== null && { type }),
      ...(domain !== null && { domain }),
      signing_public_key: publicKey,
      ...(validFrom && { valid_from: validFrom.toISOString() }),
      ...(validUntil && { valid_until: validUntil.toISOString() }),
    },
    meta: {
      ...(record.catalogIndexUrls.length > 0 && {
        catalog_index_urls: record.catalogIndexUrls.map((url) => ({ url })),
      }),
    },
    network_memberships: record.networkMemberships,
    state: stateAt(record, now),
    ttl: record.ttlSeconds,
    created_at: record.createdAt.toISOString(),
    updated_at: record.updatedAt.toISOString(),
  };
}

/** A live key whose time is over reads as expired, without anybody having to write it. */
function stateAt({ state, validUntil }: KeyRecord, now: Date): RecordState {
  return state === 'live' && validUntil && validUntil < now ? 'expired' : state;
}

/** Anything that is no page number gets the first page of the usual size. */
function parsePage(query: Record<string, unknown>): { number: number; size: number } {
  return {
    number: within(query.page, 1, maxPageNumber) ?? 1,
    size: within(query.page_size, 1, maxPageSize) ?? defaultPageSize,
  };
}

function within(value: unknown, min: number, max: number): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  return number >= min ? Math.min(number, max) : undefined;
}

function sendCacheable(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: object,
  maxAgeSeconds: number,
): FastifyReply {
  const body = JSON.stringify(answer);
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  reply.header('etag', etag).header('cache-control', `public, max-age=${maxAgeSeconds}`);
  if (isNotModified(request.headers, { etag })) return reply.code(304).send();
  return reply.type('application/json').send(body);
}
