import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from '../protocol/type.ts';
import { type Actor, listAudit } from '../storage/console/audit.ts';
import { AuditLine } from './answers/network.ts';
import type { ConsoleContext } from './context.ts';
import { addList, CursorKey, listOf, nextCursor } from './list.ts';

export function addAuditRoutes(server: FastifyInstance, { database }: ConsoleContext): void {
  addList(server, '/api/audit', {
    summary: 'List changes made by operators, with this API or with commands, the latest first.',
    description:
      'Commands that publish signed files, write to the registry or maintain the index are not included: see ADR 16.',
    tag: 'Operator',
    cursor: Type.Object({ id: CursorKey }),
    answer: listOf('AuditLines', AuditLine),
    async read({ limit, after }) {
      const items = await listAudit(database, { limit, before: after?.id });
      return {
        items: items.map(({ address, ...line }) => ({ ...line, ...(address && { from: address }) })),
        next: nextCursor(items, limit, ({ id }) => ({ id })),
      };
    },
  });
}

export function actorOf({ ip, operator }: Pick<FastifyRequest, 'ip' | 'operator'>): Actor {
  return { actor: 'console', operator: operator?.name ?? 'nobody', address: ip };
}
