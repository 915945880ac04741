import { randomUUID } from 'node:crypto';
import { type Action, actions } from '../protocol/actions.ts';
import type { Catalog, Resource } from '../protocol/catalog.ts';
import type { Json } from '../protocol/json.ts';
import type { PublishDirective, PublishMessage } from '../protocol/publish-messages.ts';
import type { RegistryClient } from '../registry/client.ts';
import { type Asked, type Asking, ask, requireCallback } from './callback.ts';
import { CheckFailed, CheckSkipped, memoize } from './check.ts';
import type { Received } from './inbox.ts';
import type { RequestScene } from './request-checks.ts';
import { chargerContext, createSamples } from './sample-catalogs.ts';
import type { Answer, Sender } from './sender.ts';
import { at, describe, listAt } from './values.ts';

// One run against a catalog service. Each step, from the subscription to the withdrawal, runs once, when the first check needs it.

export interface CatalogSceneOptions extends Asking {
  other?: Sender;
  registry: RegistryClient;
  registryName: string;
  /** The registered address for pushes to us; undefined if there is none. */
  registeredUrl?: string;
  networkId: string;
  /** Maximum body size of the service, in bytes. */
  bodyLimit: number;
  download(url: string): Promise<Buffer>;
  run: string;
}

export type CatalogScene = ReturnType<typeof createCatalogScene>;

const pageSize = 100;
const maxPages = 100;

/** The only resource that remains in a catalog after the withdrawal. */
export function withdrawnIn(catalogId: string): string {
  return `${catalogId}-withdrawn`;
}

export function createCatalogScene(options: CatalogSceneOptions) {
  const { self, networkId, run } = options;
  const samples = createSamples(run, networkId);
  const { id, catalog, directive, charger, plain } = samples;
  /** Keeps an earlier subscription of the identity from being mistaken for ours and ended. */
  const ownType = `https://schema.example/conform-${run}/context.jsonld`;

  const publish = (catalogs: readonly Catalog[], publishDirectives: readonly PublishDirective[]) =>
    ask(options, actions.publish, { message: { catalogs, publishDirectives } });
  const search = (message: object) => self.send(actions.search, { message });

  const subscribed = memoize(() =>
    self.send(actions.subscribe, {
      message: { subscription: { networkIds: [networkId], schemaTypes: [chargerContext, ownType] } },
    }),
  );
  const subscriptionId = memoize(async () => {
    const found = at((await subscribed()).body, 'message', 'subscriptions', 0, 'subscriptionId');
    if (typeof found !== 'string') throw new CheckSkipped('no subscription was created');
    return found;
  });
  /** Valid chargers, a catalog with one wrong resource, one without schema types, and one with only offers. */
  const published = memoize(async () => {
    // Subscribes first, because checks examine pushes. The publish runs even if the service creates no subscription.
    await subscribed();
    return publish(
      [
        catalog('chargers', { resources: [charger('r1'), charger('r2')], offers: [{ id: id('offer') }] }),
        catalog('mixed', { resources: [charger('good'), charger('bad', { type: 'TOASTER' })] }),
        catalog('plain', { resources: [plain('untyped')] }),
        catalog('offers', { offers: [{ id: id('lone-offer') }] }),
      ],
      ['chargers', 'mixed', 'plain', 'offers'].map((name) => directive(name)),
    );
  });
  const update = (
    earlier: () => Promise<Asked>,
    resources: Resource[],
    updateMode?: PublishDirective['updateMode'],
  ) =>
    memoize(async () => {
      requireCallback(await earlier());
      return publish(
        [catalog('chargers', { resources })],
        [directive('chargers', updateMode && { updateMode })],
      );
    });
  const renamed = { ...charger('r2'), descriptor: { name: 'changed' } };
  const merged = update(published, [renamed, charger('r3')], 'MERGE');
  const updated = update(merged, [charger('r5')]);
  const replaced = update(updated, [charger('r4')], 'FULL');
  const mastered = memoize(async () => {
    requireCallback(await published());
    const template = charger('template', { attributes: { connectorType: 'CCS2' } });
    return publish(
      [catalog('master', { resources: [template] })],
      [directive('master', { catalogType: 'MASTER' })],
    );
  });
  const extended = memoize(async () => {
    const asked = await mastered();
    const status = at(requireCallback(asked).body, 'message', 'results', 0, 'status');
    if (status !== 'ACCEPTED')
      throw new CheckSkipped(`the MASTER catalog was not accepted: ${describe(asked.answer)}`);
    const faithful = { id: id('faithful') };
    const different = charger('template', { attributes: { connectorType: 'CHAdeMO' } });
    const resourceDirectives = ['faithful', 'different'].map((name) => ({
      resourceId: id(name),
      extends: { masterResourceId: id('template') },
    }));
    return publish(
      [catalog('extending', { resources: [faithful, { ...different, id: id('different') }] })],
      [directive('extending', { resourceDirectives })],
    );
  });
  const pulled = memoize(async () => {
    const message = { subscriptionId: await subscriptionId(), limit: pageSize };
    requireCallback(await replaced());
    return ask(options, actions.pull, { message });
  });
  const unsubscribed = memoize(async () =>
    self.send(actions.unsubscribe, { query: { subscriptionId: await subscriptionId() } }),
  );
  const withdrawn = memoize(async () => {
    const directives = takenCatalogs(options).map((taken) => ({
      ...{ ...taken, updateMode: 'FULL' as const, visibleTo: [networkId] },
    }));
    if (directives.length === 0) return undefined;
    const catalogs = directives.map(({ catalogId }) => ({
      ...catalog('withdrawn', { resources: [{ id: withdrawnIn(catalogId) }], isActive: false }),
      id: catalogId,
    }));
    return publish(catalogs, directives);
  });

  return {
    ...options,
    ...{ samples, publish, search, subscribed, subscriptionId, published, merged, updated, replaced },
    ...{ mastered, extended, pulled, unsubscribed, withdrawn },
    probe: { action: actions.search, message: { filters: { networkIds: [networkId] }, limit: 1 } },
    endpoints: endpoints(),
    async find(name: string, filters: object): Promise<Json | undefined> {
      for (let offset = 0; offset < maxPages * pageSize; offset += pageSize) {
        const { body } = await search({ filters, limit: pageSize, offset });
        const page = listAt(body, 'message', 'catalogs');
        const found = page.find((one) => at(one, 'id') === id(name));
        if (found !== undefined || page.length < pageSize) return found;
      }
      throw new CheckSkipped(`it is not among the first ${maxPages * pageSize} catalogs of a search`);
    },
    push: (name: string) => (message: Received) =>
      message.action === actions.push.name &&
      listAt(message.body, 'message', 'catalogs').some((one) => at(one, 'id') === id(name)),
  };
}

/** Every catalog in an acknowledged publish, except those that were rejected later. */
function takenCatalogs({ self, inbox }: CatalogSceneOptions) {
  const messages = self.answers
    .filter(({ action, status }) => action === actions.publish && status === 200)
    .map(({ message }) => message as PublishMessage)
    // Some checks send something that is not a publish message.
    .filter(({ catalogs }) => Array.isArray(catalogs));
  const directives = messages.flatMap(({ publishDirectives = [] }) => publishDirectives);
  const results = inbox.received.flatMap(({ body }) => listAt(body, 'message', 'results'));
  const hasResult = (id: string, isRejected: boolean) =>
    results.some((one) => at(one, 'catalogId') === id && (at(one, 'status') === 'REJECTED') === isRejected);
  const ids = new Set(messages.flatMap(({ catalogs }) => catalogs.map(({ id }) => id)));
  return [...ids]
    .filter((id) => hasResult(id, false) || !hasResult(id, true))
    .map((catalogId) => {
      const directive = directives.find((one) => one.catalogId === catalogId);
      return { catalogId, catalogType: directive?.catalogType ?? ('REGULAR' as const) };
    });
}

export async function withdrawAll({ self, withdrawn }: CatalogScene): Promise<void> {
  const idsIn = ({ body }: Answer) =>
    listAt(body, 'message', 'subscriptions').map((one) => String(at(one, 'subscriptionId')));
  const answered = (action: Action) =>
    self.answers.filter((answer) => answer.action === action && answer.status === 200).flatMap(idsIn);
  const ended = answered(actions.unsubscribe);
  for (const subscriptionId of answered(actions.subscribe).filter((one) => !ended.includes(one)))
    await self.send(actions.unsubscribe, { query: { subscriptionId } });
  const asked = await withdrawn();
  if (asked && asked.answer.status !== 200) throw new CheckFailed(describe(asked.answer));
}

function endpoints(): RequestScene['endpoints'] {
  const query = { subscriptionId: randomUUID() };
  return [
    { action: actions.subscribe, sending: { message: {} } },
    { action: actions.listSubscriptions, sending: {} },
    { action: actions.unsubscribe, sending: { query } },
    { action: actions.publish, sending: { message: { catalogs: [] } } },
    { action: actions.pull, sending: { message: query } },
    { action: actions.search, sending: { message: {} } },
  ];
}
