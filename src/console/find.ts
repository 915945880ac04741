import type { FastifyInstance } from 'fastify';
import { actions } from '../protocol/actions.ts';
import { checkDiscoverMessage, DiscoverMessage } from '../protocol/discover-messages.ts';
import { fillIn } from '../protocol/fill-in.ts';
import { NetworkId } from '../protocol/shapes.ts';
import { type Static, Type } from '../protocol/type.ts';
import { beyondTheLast, exactTotal } from '../rules/discover/page-answer.ts';
import { createDeadline, type NearMiss, type Question } from '../search/port.ts';
import { type NearMiss as DescribedMiss, FindAnswer } from './answers/find.ts';
import type { ConsoleContext } from './context.ts';
import { addRoute } from './route.ts';

export const findMembers = {
  networkId: Type.Optional(NetworkId),
  schemaContext: Type.Optional(Type.Array(Type.String())),
  message: DiscoverMessage,
};
const FindRequest = Type.Object(findMembers, { title: 'FindRequest' });
type FindRequest = Static<typeof FindRequest>;

export function addFindRoute(server: FastifyInstance, context: ConsoleContext): void {
  addRoute(server, 'POST /api/find', {
    summary: 'Find resources as the discovery service does, and explain how they were found.',
    description: 'Evaluated on the index of the discovery service. Nothing is sent or stored.',
    body: FindRequest,
    answer: FindAnswer,
    answers: { 400: 'The intent is wrong, with the code and path that discover would answer.' },
    access: 'read',
    async handle({ body }, _request, reply) {
      // The catalogs are already rendered.
      const { catalogs, ...others } = await find(context, body);
      reply.type('application/json');
      return `{"catalogs":${catalogs},${JSON.stringify(others).slice(1)}`;
    },
  });
}

export function questionOf({ message, networkId, schemaContext }: FindRequest): Question {
  return { message, scope: { ...(networkId && { networkId }), ...(schemaContext && { schemaContext }) } };
}

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
    answer.total === 0
      ? await search.findNearMisses({ ...question, deadline, trace })
      : answer.resourceCount === 0
        ? [beyondTheLast(answer.total)]
        : [];
  const elsewhere = answer.total === 0 && misses.length === 0 ? await findElsewhere(context, question) : [];
  const { catalogs, resourceCount, total, pagination, ranking, leftOut } = answer;
  return {
    catalogs,
    ...{ resourceCount, total, orMore: total > exactTotal },
    ...{ pagination, ranking, leftOut },
    nearMisses: [
      ...misses.map(({ code, says, path, close }: NearMiss) => ({
        code,
        message: says,
        path,
        suggestion: close?.[0],
      })),
      ...elsewhere,
    ],
    explain: { steps: trace.steps.filter(({ step }) => step !== 'near miss'), ms },
    request: buildRequest(context, question),
  };
}

/** Reports hits in other networks, to operators but not to consumers. */
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

function buildRequest({ config, now }: ConsoleContext, question: Question): FindAnswer['request'] {
  const { message, scope: context } = question;
  const { id, url: uri = `${config.consoleUrl}/inbox` } = config.identities.consumer;
  return fillIn({ context, message }, { action: actions.discover, id, uri, now: now() });
}
