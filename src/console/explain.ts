import type { FastifyInstance } from 'fastify';
import type { PlainOperation } from '../http/openapi.ts';
import { DiscoverMessage } from '../protocol/discover-messages.ts';
import { NetworkId, Pagination, titled } from '../protocol/shapes.ts';
import { Type } from '../protocol/type.ts';
import { prepareValidator, validator } from '../protocol/validate.ts';
import type { ConsoleContext } from './context.ts';

export function addExplainRoute(server: FastifyInstance, context: ConsoleContext): void {
  prepareValidator(ExplainRequest);
  server.post('/api/explain', { config: { operation, access: 'read' } }, async (request) => {
    const { context: scope = {}, message } = validator(ExplainRequest)(request.body);
    return context.search.explain({ message, scope });
  });
}

const ExplainRequest = titled('ExplainRequest', {
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
});

const ExplainAnswer = titled('ExplainAnswer', {
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
});

const operation: PlainOperation = {
  summary: 'Tell how an intent is evaluated on the index of the discovery service.',
  description: 'Takes the body of a discover. Nothing is sent or stored.',
  body: ExplainRequest,
  answer: ExplainAnswer,
  answers: { 400: 'The intent is wrong, with the code and path that discover would answer.' },
};
