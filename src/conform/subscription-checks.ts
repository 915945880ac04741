import { actions } from '../protocol/actions.ts';
import { protocolVersion } from '../protocol/endpoints.ts';
import { Pagination } from '../protocol/shapes.ts';
import { SubscriptionsAnswer } from '../protocol/subscription-messages.ts';
import type { CatalogScene } from './catalog-scene.ts';
import { type Check, CheckSkipped } from './check.ts';
import { at, describe, expectEqual, expectShape, expectStatus, expectThat, listAt, show } from './expect.ts';
import { refusal } from './request-checks.ts';
import type { Sender } from './sender.ts';

type CatalogCheck = Check<CatalogScene>;

const creating = 'Catalog spec: POST /catalog/subscription';
const listing = 'Catalog spec: GET /catalog/subscription';
const ending = 'Catalog spec: DELETE /catalog/subscription';

export const subscriptionChecks: readonly CatalogCheck[] = [
  {
    name: 'subscription-created',
    clause: creating,
    expects: '200 with one subscription, ACTIVE',
    async run({ subscribed }) {
      const answer = await subscribed();
      expectStatus(answer, 200);
      const subscriptions = listAt(answer.body, 'message', 'subscriptions');
      expectThat(
        subscriptions.length === 1 && at(subscriptions[0], 'status') === 'ACTIVE',
        `message.subscriptions is ${show(subscriptions)}`,
      );
    },
  },
  {
    name: 'subscription-shape',
    clause: 'Catalog spec: Subscription',
    expects: 'subscriptionId (UUID), status, networkIds, schemaTypes, createdAt and updatedAt',
    async run(scene) {
      await scene.subscriptionId();
      expectShape(SubscriptionsAnswer, (await scene.subscribed()).body, 'the answer');
    },
  },
  {
    name: 'subscription-kept',
    clause: 'Catalog spec: Subscription',
    expects: 'networkIds and schemaTypes as they were asked for',
    async run(scene) {
      await scene.subscriptionId();
      const subscription = at((await scene.subscribed()).body, 'message', 'subscriptions', 0);
      expectEqual(show(at(subscription, 'networkIds')), show([scene.networkId]), 'networkIds');
      expectEqual(listAt(subscription, 'schemaTypes').length, 2, 'the number of schemaTypes');
    },
  },
  {
    name: 'subscription-envelope',
    clause: creating,
    expects: 'context.action catalog/on_subscription',
    run: async ({ subscribed }) =>
      expectEqual(
        at((await subscribed()).body, 'context', 'action'),
        'catalog/on_subscription',
        'context.action',
      ),
  },
  {
    name: 'subscription-echo',
    clause: creating,
    expects: 'version and messageId of the request in the context of the answer',
    async run({ subscribed }) {
      const { body, messageId } = await subscribed();
      expectEqual(at(body, 'context', 'messageId'), messageId, 'context.messageId');
      expectEqual(at(body, 'context', 'version'), protocolVersion, 'context.version');
    },
  },
  refusal(
    'subscription-needs-interest',
    creating,
    'there are neither networkIds nor schemaTypes',
    400,
    ({ self }) => self.send(actions.subscribe, { message: { subscription: {} } }),
  ),
  {
    name: 'subscription-listed',
    clause: listing,
    expects: 'the subscription in the list, under its id and among the ACTIVE ones',
    async run(scene) {
      const subscriptionId = await scene.subscriptionId();
      const answer = await scene.self.send(actions.listSubscriptions, {
        query: { subscriptionId, status: 'ACTIVE' },
      });
      const ids = listAt(answer.body, 'message', 'subscriptions').map((one) => at(one, 'subscriptionId'));
      expectThat(answer.status === 200 && show(ids) === show([subscriptionId]), describe(answer));
    },
  },
  {
    name: 'list-pagination',
    clause: listing,
    expects: 'message.pagination with total, limit and offset as they were asked for',
    async run({ self }) {
      const { body } = await self.send(actions.listSubscriptions, { query: { limit: '7', offset: '0' } });
      expectShape(Pagination, at(body, 'message', 'pagination') ?? null, 'message.pagination');
      expectEqual(at(body, 'message', 'pagination', 'limit'), 7, 'pagination.limit');
    },
  },
  {
    name: 'list-status',
    clause: listing,
    expects: 'no ACTIVE subscription among the INACTIVE ones',
    async run(scene) {
      await scene.subscriptionId();
      const { body } = await scene.self.send(actions.listSubscriptions, { query: { status: 'INACTIVE' } });
      const statuses = listAt(body, 'message', 'subscriptions').map((one) => at(one, 'status'));
      expectThat(
        statuses.every((status) => status === 'INACTIVE'),
        `the list has ${show(statuses)}`,
      );
    },
  },
  refusal('list-limit', 'Catalog spec: Limits', 'limit is 101', 400, ({ self }) =>
    self.send(actions.listSubscriptions, { query: { limit: '101' } }),
  ),
  {
    name: 'list-own-only',
    clause: 'Catalog spec: Authentication, rule 3',
    expects: 'no subscription of one caller in the list of another',
    async run(scene) {
      const subscriptionId = await scene.subscriptionId();
      const { body } = await another(scene).send(actions.listSubscriptions, { query: { limit: '100' } });
      const ids = listAt(body, 'message', 'subscriptions').map((one) => at(one, 'subscriptionId'));
      expectThat(!ids.includes(subscriptionId), `${another(scene).id} is shown ${subscriptionId}`);
    },
  },
  refusal(
    'delete-own-only',
    ending,
    'somebody else deactivates it',
    'AUT_UNAUTHORIZED_ACTION',
    async (scene) =>
      another(scene).send(actions.unsubscribe, { query: { subscriptionId: await scene.subscriptionId() } }),
  ),
];

/** They end the subscription, so they stand after all that need it. */
export const endingChecks: readonly CatalogCheck[] = [
  {
    name: 'subscription-ended',
    clause: ending,
    expects: '200 with that subscription alone, INACTIVE',
    async run(scene) {
      const subscriptionId = await scene.subscriptionId();
      const answer = await scene.unsubscribed();
      expectStatus(answer, 200);
      const [subscription, ...more] = listAt(answer.body, 'message', 'subscriptions');
      const isEnded = at(subscription, 'status') === 'INACTIVE';
      const isOurs = at(subscription, 'subscriptionId') === subscriptionId;
      expectThat(isEnded && isOurs && more.length === 0, describe(answer));
    },
  },
  {
    name: 'ended-envelope',
    clause: ending,
    expects: 'the envelope of the other two operations: catalog/on_subscription and a list',
    async run({ unsubscribed }) {
      const { body } = await unsubscribed();
      expectShape(SubscriptionsAnswer, body, 'the answer');
      expectEqual(at(body, 'context', 'action'), 'catalog/on_subscription', 'context.action');
    },
  },
  {
    name: 'ended-updated',
    clause: 'Catalog spec: States and transitions',
    expects: 'an updatedAt that is later than before',
    async run({ subscribed, unsubscribed }) {
      const [before, after] = [await subscribed(), await unsubscribed()].map(({ body }) =>
        String(at(body, 'message', 'subscriptions', 0, 'updatedAt')),
      );
      expectThat(Date.parse(after ?? '') > Date.parse(before ?? ''), `updatedAt is ${after}, was ${before}`);
    },
  },
  {
    name: 'ended-listed',
    clause: listing,
    expects: 'the subscription in the list, INACTIVE',
    async run(scene) {
      const subscriptionId = await scene.subscriptionId();
      expectStatus(await scene.unsubscribed(), 200);
      const { body } = await scene.self.send(actions.listSubscriptions, { query: { subscriptionId } });
      expectEqual(at(body, 'message', 'subscriptions', 0, 'status'), 'INACTIVE', 'its status');
    },
  },
  {
    name: 'pull-needs-active',
    clause: 'Catalog spec: POST /catalog/pull, an active subscription',
    expects: 'a refusal (4xx) for an INACTIVE subscription',
    async run(scene) {
      const subscriptionId = await scene.subscriptionId();
      await scene.unsubscribed();
      const answer = await scene.self.send(actions.pull, { message: { subscriptionId } });
      expectThat(answer.status >= 400 && answer.status < 500, describe(answer));
    },
  },
];

export function another({ other }: CatalogScene): Sender {
  if (other) return other;
  throw new CheckSkipped('it takes a second identity: give --other');
}
