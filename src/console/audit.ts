import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { asProtocolError } from '../http/error-answer.ts';
import type { PlainOperation } from '../http/openapi.ts';
import { listAudit, writeAudit } from '../storage/console/audit.ts';
import type { ConsoleContext } from './context.ts';
import { ListQuery, listOf, nextCursor, parseListQuery } from './list.ts';

/** GET /api/audit: what operators changed, the latest first. */
export function addAuditRoutes(server: FastifyInstance, { database }: ConsoleContext): void {
  server.get('/api/audit', { config: { operation } }, async ({ query }) => {
    const { limit, after } = parseListQuery(ListQuery, query, Cursor);
    const items = await listAudit(database, { limit, before: after?.id });
    return {
      items: items.map(({ address: from, ...line }) => ({ ...line, from })),
      next: nextCursor(items, limit, ({ id }) => ({ id })),
    };
  });
}

/** Does what an operator asked for, and writes down that it was done, or why not. */
export async function audited<T>(
  { database, logger }: Pick<ConsoleContext, 'database' | 'logger'>,
  { ip }: Pick<FastifyRequest, 'ip'>,
  { action, target }: { action: string; target: string },
  work: () => Promise<T>,
): Promise<T> {
  // What was done is done, also where it cannot be written down.
  const write = (outcome: string) =>
    writeAudit(database, { action, target, outcome, address: ip }).catch((err) =>
      logger.warn({ err, action, target, outcome }, 'an action of an operator was not written down'),
    );
  try {
    const result = await work();
    await write('done');
    return result;
  } catch (error) {
    const { code, message } = asProtocolError(error);
    await write(`${code}: ${message}`);
    throw error;
  }
}

const Cursor = Type.Object({ id: Type.Integer() });

const operation: PlainOperation = {
  summary: 'List what operators changed by this API, the latest first.',
  tag: 'Operator',
  query: ListQuery,
  answer: listOf(
    'AuditLines',
    Type.Object({
      id: Type.Integer(),
      at: Type.String({ format: 'date-time' }),
      action: Type.String({ examples: ['deliveries.replay'] }),
      target: Type.String(),
      outcome: Type.String({ description: '`done`, or why not.' }),
      from: Type.String({ description: 'The address that the request came from.' }),
    }),
  ),
};
