import { actions } from '../protocol/actions.ts';
import type { Catalog } from '../protocol/catalog.ts';
import type { ErrorCode } from '../protocol/errors.ts';
import { OnPublishMessage } from '../protocol/publish-messages.ts';
import { type Asked, callbackChecks, requireCallback } from './callback.ts';
import type { CatalogScene } from './catalog-scene.ts';
import { CheckSkipped, clause } from './check.ts';
import {
  expectAck,
  expectEqual,
  expectKnownCode,
  expectRefusal,
  expectShape,
  expectStatus,
  expectThat,
} from './expect.ts';
import { refusal } from './request-checks.ts';
import type { Samples } from './sample-catalogs.ts';
import { at, listAt, show } from './values.ts';

const on = clause<CatalogScene>;

const publishing = 'Catalog spec: POST /catalog/publish';
const answering = 'Catalog spec: POST /catalog/on_publish';

const refusedPublish = (
  text: string,
  key: string,
  refused: ErrorCode | number,
  message: (samples: Samples) => object,
) =>
  on(
    text,
    refusal(key, refused, ({ self, samples }) => self.send(actions.publish, { message: message(samples) })),
  );

/** Requests that must be refused at once. They are wrong as a whole, so a service that accepts them publishes nothing. */
const refusedAtOnce = [
  ...refusedPublish(publishing, 'publish-without-catalogs: message.catalogs is empty', 400, () => ({
    catalogs: [],
  })),
  ...on('Catalog spec: Errors, SCH_REQUIRED_FIELD_MISSING', {
    'required-field-missing: 400 SCH_REQUIRED_FIELD_MISSING when a required field of a catalog or directive is missing':
      async ({ self, samples }) => {
        for (const message of withoutRequired(samples))
          expectRefusal(await self.send(actions.publish, { message }), 400, 'SCH_REQUIRED_FIELD_MISSING');
      },
  }),
  ...refusedPublish(
    'Catalog spec: Catalog',
    'catalog-needs-content: a catalog has neither resources nor offers',
    400,
    ({ catalog }) => ({ catalogs: [catalog('none', {})] }),
  ),
  ...refusedPublish(
    'Catalog spec: Errors, SCH_SCHEMA_VALIDATION_FAILED',
    'schema-violated: message.catalogs is not an array',
    'SCH_SCHEMA_VALIDATION_FAILED',
    () => ({ catalogs: 'none' }),
  ),
  ...refusedPublish(
    'Catalog spec: Errors, SCH_INVALID_FORMAT',
    'format-invalid: validity.startDate is not a date',
    'SCH_INVALID_FORMAT',
    ({ catalog, plain }) => ({
      catalogs: [{ ...catalog('none', { resources: [plain('r')] }), validity: { startDate: 'soon' } }],
    }),
  ),
  ...refusedPublish(
    publishing,
    'directive-names-catalog: a directive names no catalog of the request',
    'SCH_SCHEMA_VALIDATION_FAILED',
    (samples) => directed(samples, samples.directive('other')),
  ),
  ...refusedPublish(
    'Catalog spec: publishDirectives, resourceId',
    'directive-names-resource: a resource directive names no resource of the request',
    400,
    (samples) => directed(samples, extending(samples, 'absent')),
  ),
  ...refusedPublish(
    'Catalog spec: publishDirectives, catalogType',
    'directive-type: catalogType is OTHER',
    'SCH_INVALID_ENUM',
    (samples) => directed(samples, { ...samples.directive('none'), catalogType: 'OTHER' }),
  ),
  ...refusedPublish(
    'Catalog spec: publishDirectives, resourceDirectives',
    'directives-regular-only: the directive of a MASTER catalog has resourceDirectives',
    400,
    (samples) => directed(samples, { ...extending(samples, 'r'), catalogType: 'MASTER' }),
  ),
  ...on('Catalog spec: Limits, request body size', {
    'body-too-large: 413 SCH_SCHEMA_VALIDATION_FAILED for a body above the limit (5 MB unless --body-limit is given)':
      async ({ self, bodyLimit }) => {
        const padding = 'x'.repeat(bodyLimit);
        const answer = await self.send(actions.publish, { message: { catalogs: [] }, context: { padding } });
        expectRefusal(answer, 413, 'SCH_SCHEMA_VALIDATION_FAILED');
      },
  }),
];

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

/** For each required field of the specification, a valid publish without it. */
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

export const publishChecks = [
  ...refusedAtOnce,
  ...on(publishing, {
    'publish-acknowledged: 200 with status ACK and the messageId of the request, and nothing outside message':
      async ({ published }) => expectAck((await published()).answer),
  }),
  ...callbackChecks<CatalogScene>('publish', answering, ({ published }) => published()),
  ...on('Catalog spec: Other shapes, publish result entry', {
    'on-publish-shape: results with catalogId and status ACCEPTED, REJECTED or PARTIAL': async (scene) => {
      const { body } = requireCallback(await scene.published());
      expectShape(OnPublishMessage, at(body, 'message') ?? null, 'message of on_publish');
    },
  }),
  ...on(answering, {
    'on-publish-results: one result for each catalog of the request': async ({ published, samples }) => {
      const ids = resultsOf(await published()).map((result) => at(result, 'catalogId'));
      const expected = ['chargers', 'mixed', 'plain', 'offers'].map(samples.id);
      expectEqual(show(ids.sort()), show(expected.sort()), 'the list of catalogIds');
    },
    'sound-accepted: ACCEPTED for valid catalogs': async ({ published, samples }) => {
      for (const name of ['chargers', 'plain']) {
        const result = resultOf(await published(), samples.id(name));
        expectThat(at(result, 'status') === 'ACCEPTED', `the result of ${name} is ${show(result)}`);
      }
    },
  }),
  ...on('Catalog spec: Catalog, an offer-only catalog is allowed', {
    'offers-alone-accepted: ACCEPTED for a catalog with offers and without resources': async (scene) => {
      const result = resultOf(await scene.published(), scene.samples.id('offers'));
      expectThat(at(result, 'status') === 'ACCEPTED', `the result is ${show(result)}`);
    },
  }),
  ...on('Catalog spec: Asynchronous errors', {
    'result-errors: SCH_SCHEMA_VALIDATION_FAILED with details.path in the errors of that result': async ({
      published,
      samples,
    }) => {
      const result = resultOf(await published(), samples.id('mixed'));
      if (at(result, 'status') === 'ACCEPTED') throw new CheckSkipped('the catalog was accepted');
      const [error] = listAt(result, 'errors');
      expectThat(error !== undefined, `there are no errors in ${show(result)}`);
      expectKnownCode(at(error, 'code'), 'the error');
      expectEqual(at(error, 'code'), 'SCH_SCHEMA_VALIDATION_FAILED', 'the code');
      expectThat(typeof at(error, 'details', 'path') === 'string', `the error is ${show(error)}`);
    },
  }),
];

/** It waits for a callback that must not arrive, so it runs last. */
export const onPublishOnce = on(`${answering}, one callback per publish request`, {
  'on-publish-once: one on_publish for each publish': async ({ published, inbox }) => {
    const { answer } = await published();
    const came = inbox.received.filter(
      ({ action, body }) =>
        action === actions.onPublish.name && at(body, 'context', 'messageId') === answer.messageId,
    );
    if (came.length === 0) throw new CheckSkipped('no on_publish came');
    expectEqual(came.length, 1, 'the number of on_publish to one publish');
  },
});

function resultsOf(asked: Asked) {
  return listAt(requireCallback(asked).body, 'message', 'results');
}

function resultOf(asked: Asked, catalogId: string) {
  const result = resultsOf(asked).find((one) => at(one, 'catalogId') === catalogId);
  if (result === undefined) throw new CheckSkipped(`on_publish has no result of ${catalogId}`);
  return result;
}

/** A partly wrong publish must be refused at once, or its result must report it. */
export function expectNotAccepted(asked: Asked, catalogId: string): void {
  expectStatus(asked.answer, 200, 400);
  if (asked.answer.status === 400) return;
  const result = resultOf(asked, catalogId);
  const status = at(result, 'status');
  expectThat(status === 'PARTIAL' || status === 'REJECTED', `the result is ${show(result)}`);
}
