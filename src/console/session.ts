import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isThisMachine } from '../http/local-only.ts';
import { programVersion } from '../program-version.ts';
import { titled } from '../protocol/shapes.ts';
import { Type } from '../protocol/type.ts';
import { findSigningKey, listKeyFiles, seedFile } from '../registry/key-files.ts';
import { writeAudit } from '../storage/console/audit.ts';
import { listKnownNetworks } from '../storage/console/overview.ts';
import { Session } from './answers/session.ts';
import { actorOf } from './audit.ts';
import type { ConsoleContext } from './context.ts';
import { type GuardOptions, verifyToken } from './guard.ts';
import { tilesUrl } from './map-tiles.ts';
import { endedCookie } from './operator-token.ts';
import { addRoute } from './route.ts';

export function addSessionRoutes(server: FastifyInstance, context: ConsoleContext, guard: GuardOptions) {
  addRoute(server, 'GET /api/session', {
    summary: 'Show the operator that you are signed in as, and what this process is and can do.',
    tag,
    answer: Session,
    access: 'open',
    async handle(_asked, { operator }) {
      const needsToken = !isThisMachine(guard.host);
      // Not on a loopback address: a visitor without a token learns only that one is required.
      if (needsToken && !operator) return { needsToken };
      const named = operator && { operator: { name: operator.name, role: operator.role } };
      return { ...named, needsToken, ...(await describe(context)) };
    },
  });

  addRoute(server, 'POST /api/session', {
    summary: 'Exchange the token of an operator for a session cookie, which is valid for a week.',
    description:
      'With the cookie, requests that may change something need the header `x-signpost: console`. Programs send `Authorization: Bearer …` instead, and need no session.',
    tag,
    body: titled('OpenSession', {
      token: Type.String({ minLength: 1, maxLength: 1_024, description: 'The token of an operator.' }),
    }),
    answers: {
      204: 'Set-Cookie has the session.',
      401: 'No operator has this token.',
      429: 'Too many wrong tokens came from this address.',
    },
    access: 'open',
    bodyLimit: maxTokenBytes,
    async handle({ body: { token } }, request, reply) {
      const operator = await verifyToken(token, request, guard);
      await writeAudit(context.database, {
        ...actorOf({ ip: request.ip, operator }),
        ...{ action: 'session.open', target: 'console', outcome: 'done' },
      });
      const options = { now: context.now(), isSecure: isSecure(request) };
      return reply.code(204).header('set-cookie', guard.operators.openSession(operator, options)).send();
    },
  });

  addRoute(server, 'DELETE /api/session', {
    summary: 'End the session of the browser.',
    tag,
    answers: { 204: 'Forgotten.' },
    access: 'open',
    handle: async (_asked, request, reply) =>
      reply
        .code(204)
        .header('set-cookie', endedCookie(isSecure(request)))
        .send(),
  });
}

const tag = 'Operator';
const maxTokenBytes = 4_096;

/** Whether the browser uses TLS, to us or to a proxy. */
function isSecure({ headers: { origin } }: FastifyRequest): boolean {
  return origin?.startsWith('https:') ?? false;
}

async function describe({ config, database }: ConsoleContext) {
  const { networks, isCrawling } = await listKnownNetworks(database);
  const configured = [
    config.DEFAULT_NETWORK_ID,
    ...config.DISCOVERY_NETWORKS,
    ...config.DISCOVERY_SUBSCRIPTIONS.flatMap(({ networkIds = [] }) => networkIds),
  ];
  return {
    version: programVersion(),
    roles: config.roles,
    networks: [...new Set([...configured, ...networks])],
    defaultNetwork: config.DEFAULT_NETWORK_ID,
    registryName: config.REGISTRY_NAME,
    registryUrl: config.registryUrl,
    identities: describeIdentities(config),
    publishers: listPublishers(config),
    can: {
      publishToService: config.roles.includes('catalog'),
      publishFiles: config.roles.includes('publisher'),
      crawl: isCrawling,
    },
    mapTiles: tilesUrl(config),
    demo: config.demo !== undefined,
    ...(config.demo && { demoCity: config.demo.city }),
  };
}

function describeIdentities({ DATA_DIR, identities, roles }: ConsoleContext['config']) {
  const shown = (['catalog', 'discovery', 'publisher', 'consumer'] as const).filter(
    (name) => name === 'consumer' || roles.includes(name),
  );
  return Object.fromEntries(
    shown.map((name) => {
      const { id, keyId = findSigningKey(DATA_DIR, identities[name])?.recordId, url } = identities[name];
      // The programs on the page sign with this file.
      const file = resolve(seedFile(DATA_DIR, { id, keyId: keyId ?? '' }));
      return [name, { id, keyId, url, ...(name === 'consumer' && existsSync(file) && { keyFile: file }) }];
    }),
  );
}

/** Possible signers of a publish: the publisher, and participants that are no services of this process. */
function listPublishers({ DATA_DIR, identities }: ConsoleContext['config']): string[] {
  const { publisher, ...others } = identities;
  const services = Object.values(others).map(({ id }) => id);
  const owners = listKeyFiles(DATA_DIR, [publisher.id, ...services]).map(({ id }) => id);
  return [...new Set([publisher.id, ...owners.filter((id) => !services.includes(id))])];
}
