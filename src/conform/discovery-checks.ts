import { actions } from '../protocol/actions.ts';
import { callbackChecks, expectSender, requireCallback } from './callback.ts';
import { type Check, CheckSkipped } from './check.ts';
import { type CrawledScene, crawlChecks } from './crawl-checks.ts';
import { type DiscoveryScene, resourceIdsIn, type Target } from './discovery-scene.ts';
import {
  at,
  describe,
  expectAck,
  expectEqual,
  expectKnownCode,
  expectStatus,
  expectThat,
  listAt,
  show,
} from './expect.ts';
import { messageChecks } from './message-checks.ts';
import { authenticationChecks, contextChecks, refusal, refusalChecks } from './request-checks.ts';

type DiscoveryCheck = Check<DiscoveryScene>;

const discovering = 'Catalog spec: POST /discover';
const answering = 'Catalog spec: POST /on_discover';
const pushing = 'Catalog spec: POST /catalog/push';
const geoPath = '$.catalogs[*].provider.availableAt[*].geo';

const answerChecks: readonly DiscoveryCheck[] = [
  {
    name: 'discover-acknowledged',
    clause: discovering,
    expects: '200 with status ACK and the messageId of the request, and nothing beside message',
    async run({ found }) {
      const { answer } = await found();
      if (answer.status === 202) throw new CheckSkipped('nothing was found: give --text with words that do');
      expectAck(answer);
    },
  },
  ...callbackChecks<DiscoveryScene>('discover', answering, ({ found }) => found()),
  {
    name: 'on-discover-sender',
    clause: `${answering}, bppId and bppUri identify the DS`,
    expects: 'context.bppId of the service that signs, and its bppUri',
    run: async ({ found, registryName }) => expectSender(requireCallback(await found()), registryName),
  },
  {
    name: 'on-discover-catalogs',
    clause: `${answering}, message.catalogs is non-empty`,
    expects: 'at least one catalog, each with id, descriptor and provider',
    async run({ found }) {
      const catalogs = listAt(requireCallback(await found()).body, 'message', 'catalogs');
      expectThat(catalogs.length > 0, 'message.catalogs is empty');
      for (const catalog of catalogs)
        for (const member of ['id', 'descriptor', 'provider'])
          expectThat(at(catalog, member) !== undefined, `${member} is missing in ${show(catalog)}`);
    },
  },
  {
    name: 'nothing-found',
    clause: `${answering}, message.catalogs is non-empty`,
    expects: 'no on_discover without catalogs where nothing matches',
    async run({ self, probe, inbox }) {
      const answer = await self.send(probe.action, { message: probe.message });
      expectStatus(answer, 200, 202);
      const callback = await inbox.wait(
        ({ body }) => at(body, 'context', 'messageId') === answer.messageId,
        quietSeconds,
      );
      expectThat(callback === undefined, `it came: ${show(at(callback?.body, 'message'))}`);
    },
  },
];

/** How long to wait to see that nothing comes. */
const quietSeconds = 1;

const intentChecks: readonly DiscoveryCheck[] = [
  {
    name: 'filter-selects',
    clause: `${discovering}, intent.filters`,
    expects: 'the resources that the expression selects, and no others',
    async run(scene) {
      const target = await scene.target();
      expectOnly(target, resourceIdsIn(await scene.discover({ filters: target.filters })));
    },
  },
  refusal(
    'filter-absolute',
    `${discovering}, intent.filters.expression`,
    'the expression is no absolute path',
    400,
    ({ self }) =>
      self.send(actions.discover, {
        message: { intent: { filters: { type: 'jsonpath', expression: 'catalogs[*' } } },
      }),
  ),
  refusal(
    'filter-type',
    `${discovering}, intent.filters.type`,
    'filters.type is not jsonpath',
    400,
    ({ self }) =>
      self.send(actions.discover, {
        message: { intent: { filters: { type: 'xpath', expression: '$.catalogs[*]' } } },
      }),
  ),
  {
    name: 'text-finds',
    clause: `${discovering}, intent.textSearch matches name, description or attributes`,
    expects: 'a resource by its name, combined with a filter',
    async run(scene) {
      const target = await scene.target();
      if (target.name === undefined) throw new CheckSkipped('no resource that was found has a name');
      const intent = { textSearch: target.name, filters: target.filters };
      expectFound(target, resourceIdsIn(await scene.discover(intent)));
    },
  },
  {
    name: 'text-narrows',
    clause: `${discovering}, mechanisms are combined`,
    expects: 'nothing where the text matches nothing',
    async run(scene) {
      const { filters } = await scene.target();
      const intent = { textSearch: 'qzxwvjkqzx', filters };
      const ids = resourceIdsIn(await scene.discover(intent));
      expectThat(ids.length === 0, `there are ${show(ids)}`);
    },
  },
  {
    name: 'spatial-near',
    clause: `${discovering}, intent.spatial`,
    expects: 'a resource near the place of its provider, asked for by op S_DWITHIN',
    async run(scene) {
      const target = await scene.target();
      const spatial = [near(placeOf(target))];
      expectFound(target, resourceIdsIn(await scene.discover({ spatial, filters: target.filters })));
    },
  },
  {
    name: 'spatial-operation',
    clause: `${discovering}, spatial entry, operation`,
    expects: 'the same, asked for by operation s_dwithin',
    async run(scene) {
      const target = await scene.target();
      const { op: _op, ...entry } = near(placeOf(target));
      const spatial = [{ ...entry, operation: 's_dwithin' }];
      expectFound(target, resourceIdsIn(await scene.discover({ spatial, filters: target.filters })));
    },
  },
  {
    name: 'spatial-far',
    clause: `${discovering}, only resources satisfying all constraints`,
    expects: 'nothing on the other side of the earth',
    async run(scene) {
      const target = await scene.target();
      const [longitude, latitude] = placeOf(target);
      const spatial = [near([longitude > 0 ? longitude - 180 : longitude + 180, -latitude])];
      const ids = resourceIdsIn(await scene.discover({ spatial, filters: target.filters }));
      expectThat(ids.length === 0, `there are ${show(ids)}`);
    },
  },
  {
    name: 'spatial-target',
    clause: `${discovering}, a wrong root in targets yields zero results`,
    expects: 'nothing, and no refusal, for targets with another root',
    async run(scene) {
      const target = await scene.target();
      const spatial = [{ ...near(placeOf(target)), targets: geoPath.replace('$', '$.message') }];
      const ids = resourceIdsIn(await scene.discover({ spatial, filters: target.filters }));
      expectThat(ids.length === 0, `there are ${show(ids)}`);
    },
  },
  refusal(
    'spatial-distance',
    `${discovering}, distanceMeters required for the radius`,
    'S_DWITHIN has no distanceMeters',
    400,
    ({ self }) => {
      const { distanceMeters: _distance, ...entry } = near([0, 0]);
      return self.send(actions.discover, { message: { intent: { spatial: [entry] } } });
    },
  ),
];

const receivingChecks: readonly DiscoveryCheck[] = [
  refusal('push-malformed', pushing, 'a push has no catalogs', 400, ({ self }) =>
    self.send(actions.push, { message: { publishDirectives: [] } }),
  ),
  {
    name: 'push-answered',
    clause: pushing,
    expects: '200 with an Ack, or 202 with an Ack and an error, for a push that nobody subscribed to',
    async run({ self, samples }) {
      const { catalog, directive, plain } = samples;
      const catalogs = [{ ...catalog('pushed', { resources: [plain('pushed')] }), isActive: false }];
      const publishDirectives = [directive('pushed', { updateMode: 'FULL' })];
      const answer = await self.send(actions.push, { message: { catalogs, publishDirectives } });
      expectStatus(answer, 200, 202);
      const { body, status, messageId } = answer;
      expectThat(at(body, 'message', 'status') === 'ACK', describe(answer));
      expectEqual(at(body, 'message', 'messageId'), messageId, 'message.messageId of the answer');
      if (status === 202) expectKnownCode(at(body, 'message', 'error', 'code'), 'message.error');
    },
  },
];

/** Every check of a discovery service, in the order in which they are made. */
export const discoveryChecks: readonly Check<CrawledScene>[] = [
  ...authenticationChecks,
  ...contextChecks,
  ...answerChecks,
  ...intentChecks,
  ...receivingChecks,
  ...crawlChecks,
  ...messageChecks,
  ...refusalChecks,
];

const nearMeters = 1_000;

function near(coordinates: [number, number]) {
  return {
    op: 'S_DWITHIN',
    targets: geoPath,
    geometry: { type: 'Point', coordinates },
    distanceMeters: nearMeters,
  };
}

function placeOf({ place }: Target): [number, number] {
  if (place) return place;
  throw new CheckSkipped('no provider that was found has a place');
}

function expectFound({ id }: Target, ids: readonly unknown[]): void {
  expectThat(ids.includes(id), ids.length === 0 ? 'nothing is found' : `there are ${show(ids)}`);
}

function expectOnly(target: Target, ids: readonly unknown[]): void {
  expectFound(target, ids);
  expectThat(
    ids.every((id) => id === target.id),
    `there are ${show(ids)}`,
  );
}
