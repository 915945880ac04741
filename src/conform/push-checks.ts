import { actions } from '../protocol/actions.ts';
import { PublishMessage } from '../protocol/publish-messages.ts';
import { expectSender, isSameNode, requireCallback, verifySender } from './callback.ts';
import { type CatalogScene, withdrawnIn } from './catalog-scene.ts';
import { CheckSkipped, clause } from './check.ts';
import { expectShape, expectStatus, expectThat } from './expect.ts';
import type { Received } from './inbox.ts';
import { at, listAt, show } from './values.ts';

const on = clause<CatalogScene>;

const pushing = 'Catalog spec: POST /catalog/push';

export const pushChecks = [
  ...on(`${pushing}, precondition`, {
    'push-comes: a push of the catalog that matches the subscription': async (scene) => {
      const { registeredUrl, inbox, waitSeconds } = scene;
      if (registeredUrl === undefined)
        throw new CheckSkipped(`${scene.self.id} has no address in the registry, where pushes would go`);
      await scene.subscriptionId();
      requireCallback(await scene.published());
      const push = await inbox.wait(scene.push('chargers'), waitSeconds);
      expectThat(push !== undefined, `none came within ${waitSeconds} s`);
    },
  }),
  ...on('Catalog spec: Authentication, rule 4', {
    'push-signed: the standard Authorization header, which verifies with a key of the registry': async (
      scene,
    ) => {
      const header = await verifySender(scene.registry, await earlierPush(scene));
      expectThat(!header.chained, 'its signature is that of a callback');
    },
  }),
  ...on('Catalog spec: Context, bppId and bppUri on /catalog/push', {
    'push-sender: context.bppId of the catalog service that signs, and its bppUri': async (scene) =>
      expectSender(await earlierPush(scene), scene.registryName),
  }),
  ...on(pushing, {
    'push-shape: the shape of a publish message, with a directive for each catalog': async (scene) => {
      const message = at((await earlierPush(scene)).body, 'message') ?? null;
      expectShape(PublishMessage, message, 'message of the push');
      const directed = listAt(message, 'publishDirectives').map((one) => at(one, 'catalogId'));
      for (const catalog of listAt(message, 'catalogs'))
        expectThat(directed.includes(at(catalog, 'id')), `${show(at(catalog, 'id'))} has no directive`);
    },
  }),
  ...on(`${pushing}, each catalog keeps its own bppId and bppUri`, {
    'push-keeps-publisher: bppId of the publisher in the catalog': async (scene) => {
      const catalogs = listAt((await earlierPush(scene)).body, 'message', 'catalogs');
      const named = at(
        catalogs.find((one) => at(one, 'id') === scene.samples.id('chargers')),
        'bppId',
      );
      expectThat(isSameNode(named, scene.self.id, scene.registryName), `bppId is ${show(named)}`);
    },
  }),
];

/** They check that nothing arrived, so they run last. */
export const noPushChecks = [
  ...on(`${pushing}, precondition`, {
    'push-matches-type: no push of a catalog that has no schema type of the subscription': async (scene) => {
      await earlierPush(scene);
      await requireOnlySubscription(scene);
      const push = scene.inbox.received.find(scene.push('plain'));
      expectThat(push === undefined, `it came: ${show(push?.body)}`);
    },
  }),
  ...on('Catalog spec: Events, catalog/push', {
    'push-while-active: no push after the subscription was deactivated': async (scene) => {
      await earlierPush(scene);
      expectStatus(await scene.unsubscribed(), 200);
      await requireOnlySubscription(scene);
      const withdrawn = await scene.withdrawn();
      if (!withdrawn?.callback) throw new CheckSkipped('the published catalogs could no longer be changed');
      const withdrawnId = withdrawnIn(scene.samples.id('chargers'));
      const isLate = (message: Received) =>
        scene.push('chargers')(message) && message.raw.includes(withdrawnId);
      const push = await scene.inbox.wait(isLate, quietSeconds);
      expectThat(push === undefined, `it came: ${show(push?.body)}`);
    },
  }),
];

const quietSeconds = 1;

/** Other subscriptions of the identity would cause additional pushes. */
async function requireOnlySubscription({ self, subscriptionId }: CatalogScene): Promise<void> {
  const ours = await subscriptionId();
  const { body } = await self.send(actions.listSubscriptions, { query: { status: 'ACTIVE' } });
  const others = listAt(body, 'message', 'subscriptions').filter(
    (one) => at(one, 'subscriptionId') !== ours && at(one, 'status') === 'ACTIVE',
  );
  if (others.length > 0) throw new CheckSkipped(`${self.id} has other subscriptions`);
}

/** For checks that need the push but do not test whether it arrives. */
async function earlierPush({ inbox, push }: CatalogScene): Promise<Received> {
  const found = inbox.received.find(push('chargers'));
  if (found) return found;
  throw new CheckSkipped('no push came');
}
