import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { PlainOperation } from '../http/openapi.ts';
import { Type } from '../protocol/type.ts';
import { type Actor, listAudit } from '../storage/console/audit.ts';
import { AuditLine } from './answers/network.ts';
import type { ConsoleContext } from './context.ts';
import { CursorKey, ListQuery, listOf, nextCursor, type Page, parseListQuery } from './list.ts';

/** GET /api/audit: what operators changed, at the console or by a command, the latest first. */
export function addAuditRoutes(server: FastifyInstance, { database }: ConsoleContext): void {
  server.get('/api/audit', { config: { operation } }, async ({ query }): Promise<Page<AuditLine>> => {
    const { limit, after } = parseListQuery(ListQuery, query, Cursor);
    const items = await listAudit(database, { limit, before: after?.id });
    return {
      items: items.map(({ address, ...line }) => ({ ...line, ...(address && { from: address }) })),
      next: nextCursor(items, limit, ({ id }) => ({ id })),
    };
  });
}

/** Who asks at the console. */
export function actorOf({ ip, operator }: Pick<FastifyRequest, 'ip' | 'operator'>): Actor {
  return { actor: 'console', operator: operator?.name ?? 'nobody', address: ip };
}

const Cursor = Type.Object({ id: CursorKey });

const operation: PlainOperation = {
  summary: 'List what operators changed, by this API or by commands, the latest first.',
  description:
    'Commands that publish signed files, and those that write to the registry, are not in it: see ADR 16.',
  tag: 'Operator',
  query: ListQuery,
  answer: listOf('AuditLines', AuditLine),
};
