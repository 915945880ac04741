/**
 * The registry role: a DeDi-compatible identity registry for development and small networks, over our storage.
 *
 * Reading is public; nothing can be written over HTTP (`signpost registry …` writes). The API answers under `/dedi`,
 * like the public DeDi service, and at the root.
 */
import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createTurns } from '../fair-turns.ts';
import { isNotModified } from '../http/conditional.ts';
import type { ConnectionLimits } from '../http/connections.ts';
import { asProtocolError, errorAnswer } from '../http/error-answer.ts';
import { addHomePage } from '../http/home-page.ts';
import type { OperationsServer } from '../http/operations.ts';
import { runInTurn } from '../http/run-in-turn.ts';
import { createServer } from '../http/server.ts';
import { sourceOf } from '../http/source.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { QueryAnswer, RegistriesAnswer } from '../protocol/registry-answers.ts';
import type { Database } from '../storage/database.ts';
import {
  findKeyRecord,
  type ListFilter,
  listKeyRecords,
  listRegistries,
  listVersions,
  type NamedRegistry,
} from '../storage/registry/records.ts';
import { operations, type RegistryQuestion } from './operations.ts';
import {
  isName,
  parseAsOn,
  parseAtVersion,
  parseFilter,
  parsePage,
  type QueryText,
  RegistryRefusal,
} from './question.ts';
import {
  listTtlSeconds,
  onlyVersion,
  renderNamespace,
  renderOnlyVersion,
  renderRecord,
  renderRegistry,
  renderVersions,
} from './render.ts';

interface RegistryRoleOptions {
  database: Database;
  logger: Logger;
  metrics: Metrics;
  host: string;
  /** 0: a free port. */
  port: number;
  operations?: OperationsServer;
  trustProxy?: string[];
  connections?: ConnectionLimits;
  consoleUrl?: string;
  now?: () => Date;
}

/** Anybody may ask, and every service waits for the answers, so sources share the database by fair queueing. */
const questionsAtOnce = 6;
const maxWaitingOfSource = 200;
/** Our own client gives up after five seconds. */
const waitMs = 4_000;

export async function startRegistryRole(options: RegistryRoleOptions) {
  const { database, logger, metrics, host, port, operations, trustProxy, connections, consoleUrl } = options;
  const server = createServer({
    role: 'registry',
    // Also if no route was found, or the address cannot be decoded.
    errorBody: ({ message, code }) => ({ message, code }),
    ready: () => database.ping(),
    ...{ logger, metrics, operations, trustProxy, connections },
  });
  addHomePage(server, {
    role: 'registry',
    about: 'The participants of the network with their keys: a DeDi-compatible registry for development.',
    ...{ operations, consoleUrl },
  });
  addRegistryRoutes(server, options);
  const origin = await server.listen({ host, port });
  return { url: `${origin}/dedi`, close: () => server.close() };
}

export function addRegistryRoutes(
  server: FastifyInstance,
  { database, now = () => new Date() }: Pick<RegistryRoleOptions, 'database' | 'now'>,
): void {
  const answers = createAnswers(database, now);
  const turns = createTurns({ size: questionsAtOnce, maxWaiting: maxWaitingOfSource });
  for (const base of ['/dedi', '']) {
    for (const [path, operation] of Object.entries(operations)) {
      // Described once: the routes at the root are the same.
      const config = base === '' ? {} : { operation };
      const answer = answers[path as RegistryQuestion];
      server.get<{ Params: Names; Querystring: QueryText }>(
        base + path,
        { config, errorHandler: answerRefusal },
        async (request, reply) => {
          if (!isName(request.params)) throw notFound(request.params);
          const asking = { turns, owner: sourceOf(request.ip), waitMs };
          const answered = await runInTurn(asking, () => answer(request.params, request.query));
          return sendCacheable(request, reply, answered);
        },
      );
    }
  }
}

function createAnswers(database: Database, now: () => Date): Record<RegistryQuestion, Answering> {
  async function requireRegistries({ namespace, registryName }: Names, asOn?: Date): Promise<Registries> {
    const [first, ...others] = await listRegistries(database, namespace, { registryName, asOn });
    if (!first) throw notFound({ namespace, registryName });
    return [first, ...others];
  }

  /** The registries of a namespace, or the named one, at the requested time. */
  async function requireVersion(names: Names, query: QueryText): Promise<Registries> {
    const { version, asOn } = parseAtVersion(query);
    if (version !== undefined && String(version) !== onlyVersion) throw notFound(names);
    return requireRegistries(names, asOn);
  }

  return {
    '/lookup/:namespace': async (names, query) => ({
      message: 'Namespace found.',
      data: renderNamespace(names.namespace, await requireVersion(names, query)),
    }),

    '/lookup/:namespace/:registryName': async (names, query) => {
      const [registry] = await requireVersion(names, query);
      return { message: 'Registry found.', data: renderRegistry(names.namespace, registry) };
    },

    '/lookup/:namespace/:registryName/:recordId': async (names, query) => {
      const at = parseAtVersion(query);
      const record = await findKeyRecord(database, subscriberOf(names), names.recordId ?? '', at);
      if (!record) throw notFound(names);
      return { message: 'Record found.', data: renderRecord(record, at.asOn ?? now()) };
    },

    '/query/:namespace': async (names, query) => {
      const page = parsePage(query);
      const filter = parseFilter(query, 'status');
      const registries = filterRegistries(await requireRegistries(names, parseAsOn(query)), filter);
      const data: RegistriesAnswer['data'] = {
        namespace: names.namespace,
        total_registries: registries.length,
        ...pages(page, registries.length),
        registries: registries
          .slice(page.offset, page.offset + page.limit)
          .map((registry) => renderRegistry(names.namespace, registry)),
      };
      return { message: `${registries.length} registries found.`, data };
    },

    // A network without members is not an error: the list is empty.
    '/query/:namespace/:registryName': async (names, query) => {
      const page = parsePage(query);
      const asOn = parseAsOn(query);
      const listed = { ...(asOn && { asOn }), now: now(), filter: parseFilter(query, 'state') };
      const { records, total } = await listKeyRecords(database, subscriberOf(names), page, listed);
      const data: QueryAnswer['data'] = {
        ...{ namespace: names.namespace, registry_name: names.registryName ?? '' },
        ...{ total_records: total, ...pages(page, total) },
        records: records.map((record) => renderRecord(record, asOn ?? now())),
      };
      return { message: `${total} records found.`, data };
    },

    '/versions/:namespace': async (names) => versionsOf(names, await requireRegistries(names)),

    '/versions/:namespace/:registryName': async (names) => versionsOf(names, await requireRegistries(names)),

    '/versions/:namespace/:registryName/:recordId': async (names, query) => {
      const [subscriber, recordId] = [subscriberOf(names), names.recordId ?? ''];
      const record = await findKeyRecord(database, subscriber, recordId);
      if (!record) throw notFound(names);
      const versions = await listVersions(database, subscriber, recordId, parsePage(query));
      return { message: `${record.version} versions found.`, data: renderVersions(record, versions) };
    },
  };
}

type Answering = (names: Names, query: QueryText) => Promise<RegistryAnswer>;

interface Names {
  namespace: string;
  registryName?: string;
  recordId?: string;
}

interface RegistryAnswer {
  message: string;
  data: object;
}

type Registries = [NamedRegistry, ...NamedRegistry[]];

function subscriberOf({ namespace, registryName = '' }: Names) {
  return { namespace, registryName };
}

/** A namespace has few registries, all live. */
function filterRegistries(
  registries: readonly NamedRegistry[],
  { state = 'live', name = '', from, to, order }: ListFilter,
): NamedRegistry[] {
  const found = registries.filter(
    ({ registryName, updatedAt }) =>
      state === 'live' &&
      registryName.toLowerCase().includes(name.toLowerCase()) &&
      (from === undefined || updatedAt >= from) &&
      (to === undefined || updatedAt <= to),
  );
  return order === 'date' ? found.sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime()) : found;
}

function versionsOf(names: Names, registries: Registries): RegistryAnswer {
  return { message: '1 version found.', data: renderOnlyVersion(names, registries) };
}

function pages({ number, size }: { number: number; size: number }, total: number) {
  return { total_pages: Math.ceil(total / size), page_number: number, page_size: size };
}

function notFound({ registryName, recordId }: Partial<Names>): RegistryRefusal {
  const what =
    recordId !== undefined ? 'record or version' : registryName !== undefined ? 'registry' : 'namespace';
  return new RegistryRefusal('NOT_FOUND', `There is no such ${what}.`);
}

/** DeDi clients expect `code` beside `message`, not in a NACK. */
function answerRefusal(thrown: Error, request: FastifyRequest, reply: FastifyReply): void {
  if (!(thrown instanceof RegistryRefusal)) reply.headers(errorAnswer(thrown).headers ?? {});
  const { code, status, message } = thrown instanceof RegistryRefusal ? thrown : asProtocolError(thrown);
  if (status >= 500) request.log.error({ url: request.url, err: thrown }, 'a request failed');
  request.refusal = code;
  reply.code(status).send({ message, code });
}

function sendCacheable(request: FastifyRequest, reply: FastifyReply, answer: RegistryAnswer): FastifyReply {
  const body = JSON.stringify(answer);
  const etag = `"${hash('sha256', body, 'base64url')}"`;
  const ttl = 'ttl' in answer.data ? answer.data.ttl : listTtlSeconds;
  reply.header('etag', etag).header('cache-control', `public, max-age=${ttl}`);
  if (isNotModified(request.headers, { etag })) return reply.code(304).send();
  return reply.type('application/json').send(body);
}
