import { actions } from '../protocol/actions.ts';
import { callbackChecks, expectSender, requireCallback } from './callback.ts';
import { type Check, CheckSkipped, clause } from './check.ts';
import { type CrawledScene, crawlChecks } from './crawl-checks.ts';
import type { DiscoveryScene, Target } from './discovery-scene.ts';
import {
  expectAck,
  expectCatalogs,
  expectEqual,
  expectKnownCode,
  expectStatus,
  expectThat,
} from './expect.ts';
import type { Received } from './inbox.ts';
import { messageChecks } from './message-checks.ts';
import { authenticationChecks, contextChecks, refusal, refusalChecks } from './request-checks.ts';
import { at, describe, listAt, show } from './values.ts';

const on = clause<DiscoveryScene>;

const discovering = 'Catalog spec: POST /discover';
const answering = 'Catalog spec: POST /on_discover';
const geoPath = '$.catalogs[*].provider.availableAt[*].geo';

const answerChecks = [
  ...on(discovering, {
    'discover-acknowledged: 200 with status ACK and the messageId of the request, and nothing outside message':
      async ({ found }) => {
        const { answer } = await found();
        if (answer.status === 202)
          throw new CheckSkipped('nothing was found: give --text with words that have results');
        expectAck(answer);
      },
  }),
  ...callbackChecks<DiscoveryScene>('discover', answering, ({ found }) => found()),
  ...on(`${answering}, bppId and bppUri identify the DS`, {
    'on-discover-sender: context.bppId of the service that signs, and its bppUri': async (scene) =>
      expectSender(requireCallback(await scene.found()), scene.registryName),
  }),
  ...on(`${answering}, message.catalogs is non-empty`, {
    'on-discover-catalogs: at least one catalog, each with id, descriptor and provider': async (scene) => {
      const catalogs = listAt(requireCallback(await scene.found()).body, 'message', 'catalogs');
      expectThat(catalogs.length > 0, 'message.catalogs is empty');
      expectCatalogs(catalogs);
    },
    'nothing-found: no on_discover without catalogs where nothing matches': async (scene) => {
      const { action, message } = scene.probe;
      const answer = await scene.self.send(action, { message });
      expectStatus(answer, 200, 202);
      const answersIt = ({ body }: Received) => at(body, 'context', 'messageId') === answer.messageId;
      const callback = await scene.inbox.wait(answersIt, quietSeconds);
      expectThat(callback === undefined, `it came: ${show(at(callback?.body, 'message'))}`);
    },
  }),
];

/** Time to wait to confirm that nothing arrives. */
const quietSeconds = 1;

const finds =
  (wanted: 'target' | 'nothing', intentOf: (target: Target) => object) => async (scene: DiscoveryScene) => {
    const target = await scene.target();
    const ids = await scene.discover({ ...intentOf(target), filters: target.filters });
    const isRight = wanted === 'target' ? ids.includes(target.id) : ids.length === 0;
    expectThat(isRight, ids.length === 0 ? 'nothing is found' : `there are ${show(ids)}`);
  };

const refusedIntent = (key: string, intent: object) =>
  refusal<DiscoveryScene>(key, 400, ({ self }) => self.send(actions.discover, { message: { intent } }));

const intentChecks = [
  ...on(`${discovering}, intent.filters`, {
    'filter-selects: the resources that the expression selects, and no others': async (scene) => {
      const { id, filters } = await scene.target();
      const ids = await scene.discover({ filters });
      expectThat(ids.length > 0, 'nothing is found');
      expectThat(new Set(ids).size === 1 && ids[0] === id, `there are ${show(ids)}`);
    },
  }),
  ...on(
    `${discovering}, intent.filters.expression`,
    refusedIntent('filter-absolute: the expression is not an absolute path', {
      filters: { type: 'jsonpath', expression: 'catalogs[*' },
    }),
  ),
  ...on(
    `${discovering}, intent.filters.type`,
    refusedIntent('filter-type: filters.type is not jsonpath', {
      filters: { type: 'xpath', expression: '$.catalogs[*]' },
    }),
  ),
  ...on(`${discovering}, intent.textSearch matches name, description or attributes`, {
    'text-finds: a resource by its name, combined with a filter': finds('target', ({ name }) => {
      if (name === undefined) throw new CheckSkipped('no resource that was found has a name');
      return { textSearch: name };
    }),
  }),
  ...on(`${discovering}, mechanisms are combined`, {
    'text-narrows: nothing where the text matches nothing': finds('nothing', () => ({
      textSearch: 'qzxwvjkqzx',
    })),
  }),
  ...on(`${discovering}, intent.spatial`, {
    'spatial-near: a resource near the place of its provider, asked for by op S_DWITHIN': finds(
      'target',
      (target) => ({ spatial: [near(placeOf(target))] }),
    ),
  }),
  ...on(`${discovering}, spatial entry, operation`, {
    'spatial-operation: the same, asked for by operation s_dwithin': finds('target', (target) => {
      const { op: _op, ...entry } = near(placeOf(target));
      return { spatial: [{ ...entry, operation: 's_dwithin' }] };
    }),
  }),
  ...on(`${discovering}, only resources satisfying all constraints`, {
    'spatial-far: nothing on the other side of the earth': finds('nothing', (target) => {
      const [longitude, latitude] = placeOf(target);
      return { spatial: [near([longitude > 0 ? longitude - 180 : longitude + 180, -latitude])] };
    }),
  }),
  ...on(`${discovering}, a wrong root in targets yields zero results`, {
    'spatial-target: nothing, and no refusal, for targets with another root': finds('nothing', (target) => ({
      spatial: [{ ...near(placeOf(target)), targets: geoPath.replace('$', '$.message') }],
    })),
  }),
  ...on(
    `${discovering}, distanceMeters required for the radius`,
    refusedIntent('spatial-distance: S_DWITHIN has no distanceMeters', {
      spatial: [{ ...near([0, 0]), distanceMeters: undefined }],
    }),
  ),
];

const receivingChecks = on('Catalog spec: POST /catalog/push', {
  ...refusal('push-malformed: a push has no catalogs', 400, ({ self }) =>
    self.send(actions.push, { message: { publishDirectives: [] } }),
  ),
  'push-answered: 200 with an Ack, or 202 with an Ack and an error, for a push without a subscription':
    async ({ self, samples }) => {
      const { catalog, directive, plain } = samples;
      const catalogs = [catalog('pushed', { resources: [plain('pushed')], isActive: false })];
      const publishDirectives = [directive('pushed', { updateMode: 'FULL' })];
      const answer = await self.send(actions.push, { message: { catalogs, publishDirectives } });
      expectStatus(answer, 200, 202);
      const { body, status, messageId } = answer;
      expectThat(at(body, 'message', 'status') === 'ACK', describe(answer));
      expectEqual(at(body, 'message', 'messageId'), messageId, 'message.messageId of the answer');
      if (status === 202) expectKnownCode(at(body, 'message', 'error', 'code'), 'message.error');
    },
});

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

function near(coordinates: [number, number]) {
  const geometry = { type: 'Point', coordinates };
  return { op: 'S_DWITHIN', targets: geoPath, geometry, distanceMeters: 1_000 };
}

function placeOf({ place }: Target): [number, number] {
  if (place) return place;
  throw new CheckSkipped('no provider that was found has a place');
}
