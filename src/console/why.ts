import type { FastifyInstance } from 'fastify';
import { identityOf } from '../protocol/identity.ts';
import { closed, Id, titled } from '../protocol/shapes.ts';
import { Type } from '../protocol/type.ts';
import type { Why } from '../search/port.ts';
import { WhyAnswer } from './answers/find.ts';
import type { ConsoleContext } from './context.ts';
import { findMembers, questionOf } from './find.ts';
import { addRoute } from './route.ts';

export function addWhyRoute(server: FastifyInstance, { search, config }: ConsoleContext): void {
  addRoute(server, 'POST /api/find/why', {
    summary: 'Explain why a resource is, or is not, in the answer to an intent.',
    description: 'Makes each check of a search on this resource alone, even after one that fails.',
    body: titled('WhyRequest', {
      ...findMembers,
      resource: closed({
        id: Id,
        catalogId: Type.Optional(Id),
        owner: Type.Optional(Type.String({ description: 'SubscriberId of the node that publishes it.' })),
      }),
    }),
    answer: WhyAnswer,
    access: 'read',
    async handle({ body }) {
      const { id, catalogId, owner } = body.resource;
      const why = await search.why(questionOf(body), {
        ...{ id, catalogId },
        ...(owner !== undefined && { owner: identityOf(owner, config.REGISTRY_NAME) }),
      });
      return { found: why.checks.every(({ ok }) => ok), ...why, ...conclude(why) };
    },
  });
}

const nextSteps: Record<Why['checks'][number]['check'], string> = {
  indexed: 'Inspect the catalog, or its node: the chain shows how far it got.',
  served: 'Inspect the catalog: its source says whether it is paused, retired or withdrawn.',
  network: 'Search in a network that the catalog is visible in, or publish it with visibleTo for this one.',
  schema: 'Search without a schema context, or with one that the catalog uses.',
  validity: 'Publish the catalog with a validity that includes the present time.',
  filter: 'Change the condition, or the resource.',
  spatial: 'Search a larger area, or another target path.',
  text: 'Search for a word in its name, description, provider or offers.',
  limit: 'Ask for a page that reaches it: limit and offset.',
};

function conclude({ checks, rank }: Why): { conclusion: string; nextStep?: string } {
  const failed = checks.find(({ ok }) => !ok);
  if (!failed) return { conclusion: `It is found, at rank ${rank}.` };
  return { conclusion: `It is not found: ${failed.detail}`, nextStep: nextSteps[failed.check] };
}
