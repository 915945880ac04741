import { actions } from '../protocol/actions.ts';
import { protocolVersion } from '../protocol/endpoints.ts';
import type { Json } from '../protocol/json.ts';
import { SubscriptionsAnswer } from '../protocol/subscription-messages.ts';
import type { CatalogScene } from './catalog-scene.ts';
import { CheckSkipped, clause } from './check.ts';
import { expectEqual, expectPagination, expectShape, expectStatus, expectThat } from './expect.ts';
import { refusal } from './request-checks.ts';
import type { Answer, Sender } from './sender.ts';
import { at, describe, listAt, show } from './values.ts';

const on = clause<CatalogScene>;

const creating = 'Catalog spec: POST /catalog/subscription';
const listing = 'Catalog spec: GET /catalog/subscription';
const ending = 'Catalog spec: DELETE /catalog/subscription';

export const subscriptionChecks = [
  ...on(creating, {
    'subscription-created: 200 with one subscription, ACTIVE': async ({ subscribed }) => {
      const answer = await subscribed();
      expectStatus(answer, 200);
      const subscriptions = listAt(answer.body, 'message', 'subscriptions');
      const isActive = subscriptions.length === 1 && at(subscriptions[0], 'status') === 'ACTIVE';
      expectThat(isActive, `message.subscriptions is ${show(subscriptions)}`);
    },
  }),
  ...on('Catalog spec: Subscription', {
    'subscription-shape: subscriptionId (UUID), status, networkIds, schemaTypes, createdAt and updatedAt':
      async (scene) => {
        await scene.subscriptionId();
        expectShape(SubscriptionsAnswer, (await scene.subscribed()).body, 'the answer');
      },
    'subscription-kept: networkIds and schemaTypes as requested': async (scene) => {
      await scene.subscriptionId();
      const subscription = at((await scene.subscribed()).body, 'message', 'subscriptions', 0);
      expectEqual(show(at(subscription, 'networkIds')), show([scene.networkId]), 'networkIds');
      expectEqual(listAt(subscription, 'schemaTypes').length, 2, 'the number of schemaTypes');
    },
  }),
  ...on(creating, {
    'subscription-envelope: context.action catalog/on_subscription': async ({ subscribed }) =>
      expectAction((await subscribed()).body),
    'subscription-echo: version and messageId of the request in the context of the answer': async (scene) => {
      const { body, messageId } = await scene.subscribed();
      expectEqual(at(body, 'context', 'messageId'), messageId, 'context.messageId');
      expectEqual(at(body, 'context', 'version'), protocolVersion, 'context.version');
    },
    ...refusal('subscription-needs-interest: there are neither networkIds nor schemaTypes', 400, ({ self }) =>
      self.send(actions.subscribe, { message: { subscription: {} } }),
    ),
  }),
  ...on(listing, {
    'subscription-listed: the subscription in the list, under its id and among the ACTIVE ones': async (
      scene,
    ) => {
      const subscriptionId = await scene.subscriptionId();
      const answer = await list(scene.self, { subscriptionId, status: 'ACTIVE' });
      const isListed = show(subscriptionIdsIn(answer)) === show([subscriptionId]);
      expectThat(answer.status === 200 && isListed, describe(answer));
    },
    'list-pagination: message.pagination with total, limit and offset as requested': async ({ self }) => {
      const { body } = await list(self, { limit: '7', offset: '0' });
      expectPagination(at(body, 'message'), { limit: 7 });
    },
    'list-status: no ACTIVE subscription among the INACTIVE ones': async (scene) => {
      await scene.subscriptionId();
      const { body } = await list(scene.self, { status: 'INACTIVE' });
      const statuses = listAt(body, 'message', 'subscriptions').map((one) => at(one, 'status'));
      const areInactive = statuses.every((status) => status === 'INACTIVE');
      expectThat(areInactive, `the list has ${show(statuses)}`);
    },
  }),
  ...on(
    'Catalog spec: Limits',
    refusal('list-limit: limit is 101', 400, ({ self }) => list(self, { limit: '101' })),
  ),
  ...on('Catalog spec: Authentication, rule 3', {
    'list-own-only: no subscription of one caller in the list of another': async (scene) => {
      const subscriptionId = await scene.subscriptionId();
      const ids = subscriptionIdsIn(await list(another(scene), { limit: '100' }));
      expectThat(!ids.includes(subscriptionId), `${another(scene).id} is shown ${subscriptionId}`);
    },
  }),
  ...on(
    ending,
    refusal('delete-own-only: another participant deactivates it', 'AUT_UNAUTHORIZED_ACTION', async (scene) =>
      another(scene).send(actions.unsubscribe, { query: { subscriptionId: await scene.subscriptionId() } }),
    ),
  ),
];

/** They end the subscription, so they run after all checks that need it. */
export const endingChecks = [
  ...on(ending, {
    'subscription-ended: 200 with that subscription alone, INACTIVE': async (scene) => {
      const subscriptionId = await scene.subscriptionId();
      const answer = await scene.unsubscribed();
      expectStatus(answer, 200);
      const [subscription, ...more] = listAt(answer.body, 'message', 'subscriptions');
      const isEnded = at(subscription, 'status') === 'INACTIVE';
      const isOurs = at(subscription, 'subscriptionId') === subscriptionId;
      expectThat(isEnded && isOurs && more.length === 0, describe(answer));
    },
    'ended-envelope: the envelope of the other two operations: catalog/on_subscription and a list': async ({
      unsubscribed,
    }) => {
      const { body } = await unsubscribed();
      expectShape(SubscriptionsAnswer, body, 'the answer');
      expectAction(body);
    },
  }),
  ...on('Catalog spec: States and transitions', {
    'ended-updated: an updatedAt that is later than before': async ({ subscribed, unsubscribed }) => {
      const [before, after] = [await subscribed(), await unsubscribed()].map(({ body }) =>
        String(at(body, 'message', 'subscriptions', 0, 'updatedAt')),
      );
      expectThat(Date.parse(after ?? '') > Date.parse(before ?? ''), `updatedAt is ${after}, was ${before}`);
    },
  }),
  ...on(listing, {
    'ended-listed: the subscription in the list, INACTIVE': async (scene) => {
      const subscriptionId = await scene.subscriptionId();
      expectStatus(await scene.unsubscribed(), 200);
      const { body } = await list(scene.self, { subscriptionId });
      expectEqual(at(body, 'message', 'subscriptions', 0, 'status'), 'INACTIVE', 'its status');
    },
  }),
  ...on('Catalog spec: POST /catalog/pull, an active subscription', {
    'pull-needs-active: a refusal (4xx) for an INACTIVE subscription': async (scene) => {
      const subscriptionId = await scene.subscriptionId();
      await scene.unsubscribed();
      const answer = await scene.self.send(actions.pull, { message: { subscriptionId } });
      expectThat(answer.status >= 400 && answer.status < 500, describe(answer));
    },
  }),
];

function list(sender: Sender, query: Record<string, string>): Promise<Answer> {
  return sender.send(actions.listSubscriptions, { query });
}

function subscriptionIdsIn({ body }: Answer): unknown[] {
  return listAt(body, 'message', 'subscriptions').map((one) => at(one, 'subscriptionId'));
}

function expectAction(body: Json): void {
  expectEqual(at(body, 'context', 'action'), 'catalog/on_subscription', 'context.action');
}

export function another({ other }: CatalogScene): Sender {
  if (other) return other;
  throw new CheckSkipped('it takes a second identity: give --other');
}
