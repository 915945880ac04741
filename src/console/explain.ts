import type { FastifyInstance } from 'fastify';
import type { PlainOperation } from '../http/openapi.ts';
import { DiscoverMessage } from '../protocol/discover-messages.ts';
import { NetworkId, Pagination } from '../protocol/shapes.ts';
import { Type } from '../protocol/type.ts';
import { prepareValidator, validator } from '../protocol/validate.ts';
import type { ConsoleContext } from './context.ts';

/** POST /api/explain: how the discovery service evaluates an intent on its index. The body of a discover can be sent as it is. */
export function addExplainRoute(server: FastifyInstance, context: ConsoleContext): void {
  prepareValidator(ExplainRequest);
  server.post('/api/explain', { config: { operation, access: 'read' } }, async (request) => {
    const { context: scope = {}, message } = validator(ExplainRequest)(request.body);
    return context.search.explain({ message, scope });
  });
}

const ExplainRequest = Type.Object(
  {
    context: Type.Optional(
      Type.Object(
        {
          networkId: Type.Optional(NetworkId),
          schemaContext: Type.Optional(Type.Array(Type.String())),
        },
        { description: 'What narrows the search as a whole; other members do not matter here.' },
      ),
    ),
    message: DiscoverMessage,
  },
  { title: 'ExplainRequest' },
);

const ExplainAnswer = Type.Object(
  {
    steps: Type.Array(
      Type.Object({
        step: Type.String({ examples: ['read page'] }),
        ms: Type.Optional(Type.Number({ description: 'How long it took.' })),
      }),
      {
        description:
          'In the order in which they ended. Further members say which index was asked, how many candidates it had, and how many were left.',
      },
    ),
    resourceCount: Type.Integer({ description: 'Resources in the answer.' }),
    pagination: Type.Optional(Pagination),
    leftOut: Type.Optional(
      Type.Object(
        {
          resources: Type.Integer(),
          orMore: Type.Boolean({ description: 'There may be more: above 1,000, matches are not counted.' }),
          offers: Type.Integer({ description: 'Of a first resource that fills the answer alone.' }),
        },
        {
          description:
            'What matched and is not in the answer. Only a request with limit or offset is told so, by its pagination.',
        },
      ),
    ),
  },
  { title: 'ExplainAnswer' },
);

const operation: PlainOperation = {
  summary: 'Tell how an intent is evaluated on the index of the discovery service.',
  description: 'Takes the body of a discover. Nothing is sent or stored.',
  body: ExplainRequest,
  answer: ExplainAnswer,
  answers: { 400: 'The intent is wrong, with the code and path that discover would answer.' },
};
