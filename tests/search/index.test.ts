import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import type { Actor, Body } from '../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { comparable, fill, measure } from '../support/search/by-the-book.ts';
import {
  answerByTheBook,
  findByTheBook,
  type KnownCatalog,
  type Question,
} from '../support/search/discover-oracle.ts';
import { arbitraryIndex, arbitraryQuestion } from '../support/values/arbitrary-index.ts';

// The whole way, from the signed request to on_discover, compared with a plain evaluation of every document.

let network: TestNetwork;
let consumer: Actor;

beforeAll(async () => {
  network = await startNetwork();
  consumer = await network.actor('shopper');
});
afterAll(() => network.close());

describe('on_discover', () => {
  it('brings what a plain evaluation of every document finds', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryIndex,
        fc.array(arbitraryQuestion, { minLength: 10, maxLength: 10 }),
        async (index, questions) => {
          await fill(network, index);
          for (const question of questions) await compare(index, question);
        },
      ),
      // Always the same indexes and questions; the long form (npm run test:long) draws new ones each time.
      { numRuns: 8, seed: 20_261_115, endOnFailure: true },
    );
  });
});

async function compare(index: readonly KnownCatalog[], question: Question): Promise<void> {
  const { intent, limit, offset, networkId, schemaContext } = question;
  const before = new Date();
  const answer = await consumer.send(
    actions.discover,
    { intent, limit, offset },
    { to: network.discoveryUrl, context: { networkId, schemaContext } },
  );
  if (answer.status === 400) {
    expect(answer.body.message.error.code).toBe('SCH_INVALID_JSONPATH');
    expect(() => findByTheBook(index, question, { measure })).toThrow();
    return;
  }
  const expected = (now: Date) =>
    answerByTheBook(findByTheBook(index, { ...question, now }, { measure }), question);
  // A daily window may have opened or closed in between.
  const accepted = [expected(before), expected(new Date())];
  const context = JSON.stringify({ question, index });
  if (answer.status === 202) {
    expect(
      accepted.some(({ catalogs }) => catalogs.length === 0),
      context,
    ).toBe(true);
    return;
  }
  expect(answer.status, context).toBe(200);
  const { message }: Body = (await consumer.waitFor('on_discover', answer.messageId)).body;
  const { ranking, ...rest } = message;
  // Without paging, there is neither pagination nor ranking.
  expect(ranking !== undefined, context).toBe(rest.pagination !== undefined);
  const idsOf = (each: { catalogId: string; resourceId: string }[]) =>
    each.map(({ catalogId, resourceId }) => [catalogId, resourceId]);
  const show = ({ ranking: order, ...each }: ReturnType<typeof expected>) => ({
    ...{ ...each, catalogs: each.catalogs.map(comparable) },
    ...(rest.pagination && { order: idsOf(order) }),
  });
  expect(accepted.map(show), context).toContainEqual({
    ...{ ...rest, catalogs: rest.catalogs.map(comparable) },
    ...(ranking && { order: idsOf(ranking) }),
  });
}
