import { actions } from '../protocol/actions.ts';
import type { Catalog } from '../protocol/catalog.ts';
import type { ErrorCode } from '../protocol/errors.ts';
import { OnPublishMessage } from '../protocol/publish-messages.ts';
import { type Asked, callbackChecks, requireCallback } from './callback.ts';
import type { CatalogScene } from './catalog-scene.ts';
import { type Check, CheckSkipped } from './check.ts';
import {
  at,
  expectAck,
  expectEqual,
  expectKnownCode,
  expectRefusal,
  expectShape,
  expectThat,
  listAt,
  show,
} from './expect.ts';
import { refusal } from './request-checks.ts';
import type { Samples } from './sample-catalogs.ts';

type CatalogCheck = Check<CatalogScene>;

const publishing = 'Catalog spec: POST /catalog/publish';
const answering = 'Catalog spec: POST /catalog/on_publish';

const refusedPublish = (
  name: string,
  clause: string,
  when: string,
  refused: ErrorCode | number,
  message: (samples: Samples) => object,
): CatalogCheck =>
  refusal(name, clause, when, refused, ({ self, samples }) =>
    self.send(actions.publish, { message: message(samples) }),
  );

/** Requests that must be refused at once. They are wrong as a whole, so a service that accepts them publishes nothing. */
const refusedAtOnce: readonly CatalogCheck[] = [
  refusedPublish('publish-without-catalogs', publishing, 'message.catalogs is empty', 400, () => ({
    catalogs: [],
  })),
  {
    name: 'required-field-missing',
    clause: 'Catalog spec: Errors, SCH_REQUIRED_FIELD_MISSING',
    expects: '400 SCH_REQUIRED_FIELD_MISSING when a required field of a catalog or directive is missing',
    async run({ self, samples }) {
      for (const message of withoutRequired(samples))
        expectRefusal(await self.send(actions.publish, { message }), 400, 'SCH_REQUIRED_FIELD_MISSING');
    },
  },
  refusedPublish(
    'catalog-needs-content',
    'Catalog spec: Catalog',
    'a catalog has neither resources nor offers',
    400,
    ({ catalog }) => ({ catalogs: [catalog('none', {})] }),
  ),
  refusedPublish(
    'schema-violated',
    'Catalog spec: Errors, SCH_SCHEMA_VALIDATION_FAILED',
    'message.catalogs is no array',
    'SCH_SCHEMA_VALIDATION_FAILED',
    () => ({ catalogs: 'none' }),
  ),
  refusedPublish(
    'format-invalid',
    'Catalog spec: Errors, SCH_INVALID_FORMAT',
    'validity.startDate is no date',
    'SCH_INVALID_FORMAT',
    ({ catalog, plain }) => ({
      catalogs: [{ ...catalog('none', { resources: [plain('r')] }), validity: { startDate: 'soon' } }],
    }),
  ),
  refusedPublish(
    'directive-names-catalog',
    publishing,
    'a directive names no catalog of the request',
    'SCH_SCHEMA_VALIDATION_FAILED',
    (samples) => directed(samples, samples.directive('other')),
  ),
  refusedPublish(
    'directive-names-resource',
    'Catalog spec: publishDirectives, resourceId',
    'a resource directive names no resource of the request',
    400,
    (samples) => directed(samples, extending(samples, 'absent')),
  ),
  refusedPublish(
    'directive-type',
    'Catalog spec: publishDirectives, catalogType',
    'catalogType is OTHER',
    'SCH_INVALID_ENUM',
    (samples) => directed(samples, { ...samples.directive('none'), catalogType: 'OTHER' }),
  ),
  refusedPublish(
    'directives-regular-only',
    'Catalog spec: publishDirectives, resourceDirectives',
    'the directive of a MASTER catalog has resourceDirectives',
    400,
    (samples) => directed(samples, { ...extending(samples, 'r'), catalogType: 'MASTER' }),
  ),
  {
    name: 'body-too-large',
    clause: 'Catalog spec: Limits, request body size',
    expects:
      '413 SCH_SCHEMA_VALIDATION_FAILED for a body above the limit (5 MB unless --body-limit is given)',
    async run({ self, bodyLimit }) {
      const padding = 'x'.repeat(bodyLimit);
      const answer = await self.send(actions.publish, { message: { catalogs: [] }, context: { padding } });
      expectRefusal(answer, 413, 'SCH_SCHEMA_VALIDATION_FAILED');
    },
  },
];

/** A sound catalog with this directive. */
function directed({ catalog, plain }: Samples, directive: object, content: Pick<Catalog, 'offers'> = {}) {
  return {
    catalogs: [catalog('none', { resources: [plain('r')], ...content })],
    publishDirectives: [directive],
  };
}

function extending({ directive, id }: Samples, resource: string) {
  const one = { resourceId: id(resource), extends: { masterResourceId: id('template') } };
  return directive('none', { resourceDirectives: [one] });
}

/** For each required field of the specification, a correct publish without it. */
function withoutRequired(samples: Samples): object[] {
  const offers = [{ id: samples.id('none-offer') }];
  const whole = directed(samples, extending(samples, 'r'), { offers });
  const inCatalog = ['id', 'descriptor', 'provider', 'provider.id', 'provider.descriptor'];
  const inContent = ['resources.0.id', 'offers.0.id'];
  const inDirective = ['catalogId', 'catalogType'];
  const inExtension = ['resourceId', 'extends', 'extends.masterResourceId'];
  return [
    ...[...inCatalog, ...inContent].map((path) => `catalogs.0.${path}`),
    ...inDirective.map((path) => `publishDirectives.0.${path}`),
    ...inExtension.map((path) => `publishDirectives.0.resourceDirectives.0.${path}`),
  ].map((path) => {
    const copy = structuredClone(whole);
    const steps = path.split('.');
    const last = steps.pop() ?? '';
    Reflect.deleteProperty(at(copy, ...steps) as object, last);
    return copy;
  });
}

export const publishChecks: readonly CatalogCheck[] = [
  ...refusedAtOnce,
  {
    name: 'publish-acknowledged',
    clause: publishing,
    expects: '200 with status ACK and the messageId of the request, and nothing beside message',
    run: async ({ published }) => expectAck((await published()).answer),
  },
  ...callbackChecks<CatalogScene>('publish', answering, ({ published }) => published()),
  {
    name: 'on-publish-shape',
    clause: 'Catalog spec: Other shapes, publish result entry',
    expects: 'results with catalogId and status ACCEPTED, REJECTED or PARTIAL',
    async run({ published }) {
      const { body } = requireCallback(await published());
      expectShape(OnPublishMessage, at(body, 'message') ?? null, 'message of on_publish');
    },
  },
  {
    name: 'on-publish-results',
    clause: answering,
    expects: 'one result for each catalog of the request',
    async run({ published, samples }) {
      const ids = resultsOf(await published()).map((result) => at(result, 'catalogId'));
      const expected = ['chargers', 'mixed', 'plain', 'offers'].map(samples.id);
      expectEqual(show(ids.sort()), show(expected.sort()), 'the list of catalogIds');
    },
  },
  {
    name: 'sound-accepted',
    clause: answering,
    expects: 'ACCEPTED for catalogs in which nothing is wrong',
    async run({ published, samples }) {
      for (const name of ['chargers', 'plain']) {
        const result = resultOf(await published(), samples.id(name));
        expectThat(at(result, 'status') === 'ACCEPTED', `the result of ${name} is ${show(result)}`);
      }
    },
  },
  {
    name: 'offers-alone-accepted',
    clause: 'Catalog spec: Catalog, an offer-only catalog is allowed',
    expects: 'ACCEPTED for a catalog with offers and without resources',
    async run({ published, samples }) {
      const result = resultOf(await published(), samples.id('offers'));
      expectThat(at(result, 'status') === 'ACCEPTED', `the result is ${show(result)}`);
    },
  },
  {
    name: 'result-errors',
    clause: 'Catalog spec: Asynchronous errors',
    expects: 'SCH_SCHEMA_VALIDATION_FAILED with details.path in the errors of that result',
    async run({ published, samples }) {
      const result = resultOf(await published(), samples.id('mixed'));
      if (at(result, 'status') === 'ACCEPTED') throw new CheckSkipped('the catalog was accepted');
      const [error] = listAt(result, 'errors');
      expectThat(error !== undefined, `there are no errors in ${show(result)}`);
      expectKnownCode(at(error, 'code'), 'the error');
      expectEqual(at(error, 'code'), 'SCH_SCHEMA_VALIDATION_FAILED', 'the code');
      expectThat(typeof at(error, 'details', 'path') === 'string', `the error is ${show(error)}`);
    },
  },
];

/** It waits for a callback that must not come, so it runs last. */
export const onPublishOnce: CatalogCheck = {
  name: 'on-publish-once',
  clause: 'Catalog spec: POST /catalog/on_publish, one callback per publish request',
  expects: 'one on_publish for each publish',
  async run({ published, inbox }) {
    const { answer } = await published();
    const came = inbox.received.filter(
      ({ action, body }) =>
        action === actions.onPublish.name && at(body, 'context', 'messageId') === answer.messageId,
    );
    if (came.length === 0) throw new CheckSkipped('no on_publish came');
    expectEqual(came.length, 1, 'the number of on_publish to one publish');
  },
};

function resultsOf(asked: Asked) {
  return listAt(requireCallback(asked).body, 'message', 'results');
}

export function resultOf(asked: Asked, catalogId: string) {
  const result = resultsOf(asked).find((one) => at(one, 'catalogId') === catalogId);
  if (result === undefined) throw new CheckSkipped(`on_publish has no result of ${catalogId}`);
  return result;
}
