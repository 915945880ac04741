import type { FastifyInstance } from 'fastify';
import { oneOfTexts } from '../../protocol/shapes.ts';
import { Type } from '../../protocol/type.ts';
import { CheckAnswer, ProgressAnswer, PublishAnswer } from '../answers/publish.ts';
import { actorOf } from '../audit.ts';
import { audited } from '../audited.ts';
import type { ConsoleContext } from '../context.ts';
import { addRoute } from '../route.ts';
import { createSemaphore } from '../semaphore.ts';
import { checkText } from './check.ts';
import { readPasted } from './input.ts';
import { nameFiles, readProgress } from './progress.ts';
import { publishFiles, publishThroughService } from './send.ts';

export function addPublishRoutes(server: FastifyInstance, context: ConsoleContext): void {
  const inTurn = createSemaphore(checkTurns);

  addRoute(server, 'POST /api/publish/check', {
    summary: 'Check a text as the catalog service would, with the line and column of each fault.',
    description: 'Nothing is sent or stored.',
    body: Type.Object({ text: Text, as: As }, { title: 'PublishCheckRequest' }),
    answer: CheckAnswer,
    answers: { 503: 'Too many checks are in progress; Retry-After says when to try again.' },
    access: 'read',
    bodyLimit: maxCheckedBytes,
    handle: ({ body: { text, as } }) => inTurn(() => checkText(context, text, as)),
  });

  addRoute(server, 'POST /api/publish', {
    summary:
      'Publish a text, signed by a provider of this machine: through the catalog service, or as signed files.',
    body: Type.Object(
      { text: Text, way: oneOfTexts(['service', 'files']), as: As },
      { title: 'PublishTextRequest' },
    ),
    answer: PublishAnswer,
    answers: { 409: 'This machine has no key or no publisher for it; the hint names the command.' },
    access: 'publish',
    bodyLimit: maxTextBytes,
    async handle({ body: { text, way, as } }, request) {
      const { message = null } = readPasted(text);
      const target = `${way} as ${as ?? context.config.identities.publisher.id}`;
      return audited(context, actorOf(request), { action: 'publish', target }, async () => {
        if (way === 'service') return { way, ...(await publishThroughService(context, message, as)) };
        const answer = await publishFiles(context, message);
        return { way, messageId: nameFiles(answer, context.now()), results: answer.results };
      });
    },
  });

  addRoute(server, 'GET /api/publish/:messageId', {
    summary: 'Show the progress of a publish.',
    answer: ProgressAnswer,
    handle: ({ params }) => readProgress(context, params.messageId),
  });
}

const maxTextBytes = 16 * 1024 * 1024;
/** Less than the limit of a publish: a check is a read that is repeated while the user types. */
const maxCheckedBytes = 4 * 1024 * 1024;
/**
 * A check parses and validates in the event loop, and holds a connection of the pool. A typing user may have one running already: the next one waits
 * a moment before it is refused.
 */
const checkTurns = { atOnce: 2, maxWaiting: 4, waitMs: 1_000 };
const Text = Type.String({
  description: 'A publish request, a catalog, or an array of catalogs, as JSON text.',
});
const As = Type.Optional(
  Type.String({
    maxLength: 512,
    description: 'SubscriberId of a provider whose key this machine has (PUBLISHER_ID).',
  }),
);
