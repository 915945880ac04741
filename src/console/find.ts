import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { PlainOperation } from '../http/openapi.ts';
import { actions } from '../protocol/actions.ts';
import { checkDiscoverMessage, DiscoverMessage } from '../protocol/discover-messages.ts';
import { protocolVersion } from '../protocol/endpoints.ts';
import { NetworkId } from '../protocol/shapes.ts';
import { type Static, Type } from '../protocol/type.ts';
import { prepareValidator, validator } from '../protocol/validate.ts';
import { exactTotal } from '../rules/discover/page-answer.ts';
import { createDeadline, type NearMiss, type Question } from '../search/port.ts';
import { type NearMiss as DescribedMiss, FindAnswer } from './answers/find.ts';
import type { ConsoleContext } from './context.ts';

export function addFindRoute(server: FastifyInstance, context: ConsoleContext): void {
  prepareValidator(FindRequest);
  server.post('/api/find', { config: { operation, access: 'read' } }, async (request, reply) => {
    const asked = validator(FindRequest)(request.body);
    // The catalogs are rendered already.
    const { catalogs, ...others } = await find(context, asked);
    reply.type('application/json');
    return `{"catalogs":${catalogs},${JSON.stringify(others).slice(1)}`;
  });
}

export const findMembers = {
  networkId: Type.Optional(NetworkId),
  schemaContext: Type.Optional(Type.Array(Type.String())),
  message: DiscoverMessage,
};
const FindRequest = Type.Object(findMembers, { title: 'FindRequest' });
type FindRequest = Static<typeof FindRequest>;

export function questionOf({ message, networkId, schemaContext }: FindRequest): Question {
  return { message, scope: { ...(networkId && { networkId }), ...(schemaContext && { schemaContext }) } };
}

/** The catalogs are JSON text. */
async function find(
  context: ConsoleContext,
  asked: FindRequest,
): Promise<Omit<FindAnswer, 'catalogs'> & { catalogs: string }> {
  const { search, config } = context;
  const question = questionOf(asked);
  checkDiscoverMessage(question.message);
  const startedAt = performance.now();
  const deadline = createDeadline(config.DISCOVER_TIMEOUT_MS);
  const { answer, trace } = await search.search(question, { deadline });
  const ms = Math.round((performance.now() - startedAt) * 100) / 100;
  const misses =
    answer.total === 0 ? await search.findNearMisses({ ...question, deadline, trace }) : beyondLast(answer);
  const elsewhere = answer.total === 0 && misses.length === 0 ? await findElsewhere(context, question) : [];
  const { catalogs, resourceCount, total, pagination, ranking, leftOut } = answer;
  return {
    catalogs,
    ...{ resourceCount, total, orMore: total > exactTotal },
    ...{ pagination, ranking, leftOut },
    nearMisses: [...misses.map(describeMiss), ...elsewhere],
    explain: { steps: trace.steps.filter(({ step }) => step !== 'near miss'), ms },
    request: buildRequest(context, asked),
  };
}

function describeMiss({ code, says, path, close }: NearMiss): DescribedMiss {
  return { code, message: says, path, suggestion: close?.[0] };
}

function beyondLast({ resourceCount, total }: { resourceCount: number; total: number }): NearMiss[] {
  if (resourceCount > 0) return [];
  const says = `The offset is beyond the last of ${total} that match.`;
  return [{ code: 'offset-beyond-last', says, path: '$.message.offset' }];
}

/** A consumer is not told of other networks; the operator is. */
async function findElsewhere(
  { search }: ConsoleContext,
  { message, scope: { networkId, ...scope } }: Question,
): Promise<DescribedMiss[]> {
  if (networkId === undefined) return [];
  const { answer } = await search.search({ message: { ...message, limit: 1, offset: 0 }, scope });
  if (answer.total === 0) return [];
  const count = answer.total > exactTotal ? `more than ${exactTotal}` : answer.total;
  const says = `The same intent finds ${count} outside the network ${networkId}.`;
  return [{ code: 'other-network', message: says, path: '$.context.networkId' }];
}

/** The body of a discover that asks the same, as the consumer of the settings would send it. */
function buildRequest({ config, now }: ConsoleContext, asked: FindRequest): FindAnswer['request'] {
  const { message, networkId, schemaContext } = asked;
  const { id, url } = config.identities.consumer;
  return {
    context: {
      version: protocolVersion,
      action: actions.discover.name,
      messageId: randomUUID(),
      transactionId: randomUUID(),
      timestamp: now().toISOString(),
      bapId: id,
      bapUri: url ?? `${config.consoleUrl}/inbox`,
      ...(networkId && { networkId }),
      ...(schemaContext && { schemaContext }),
    },
    message,
  };
}

const operation: PlainOperation = {
  summary: 'Find resources as the discovery service does, and tell how they were found.',
  description: 'Evaluated on the index of the discovery service. Nothing is sent or stored.',
  body: FindRequest,
  answer: FindAnswer,
  answers: { 400: 'The intent is wrong, with the code and path that discover would answer.' },
};
