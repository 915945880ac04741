import { actions } from '../protocol/actions.ts';
import { OnPublishMessage } from '../protocol/publish-messages.ts';
import {
  type Asked,
  expectAnswersRequest,
  expectRequestDigest,
  requireCallback,
  verifySender,
} from './callback.ts';
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

/** Requests that must be refused at once. They are wrong as a whole, so a service that accepts them publishes nothing. */
const refusedAtOnce: readonly CatalogCheck[] = [
  refusal(
    {
      ...{ name: 'publish-without-catalogs', clause: publishing, status: 400, codes: [] },
      when: 'message.catalogs is empty',
    },
    ({ self }) => self.send(actions.publish, { message: { catalogs: [] } }),
  ),
  {
    name: 'required-field-missing',
    clause: 'Catalog spec: Errors, SCH_REQUIRED_FIELD_MISSING',
    expects: '400 SCH_REQUIRED_FIELD_MISSING when a required field of a catalog or directive is missing',
    async run({ self, samples }) {
      for (const message of withoutRequired(samples))
        expectRefusal(await self.send(actions.publish, { message }), 400, 'SCH_REQUIRED_FIELD_MISSING');
    },
  },
  refusal(
    {
      ...{ name: 'catalog-needs-content', clause: 'Catalog spec: Catalog', status: 400, codes: [] },
      when: 'a catalog has neither resources nor offers',
    },
    ({ self, samples }) =>
      self.send(actions.publish, { message: { catalogs: [samples.catalog('none', {})] } }),
  ),
  refusal(
    {
      ...{ name: 'schema-violated', clause: 'Catalog spec: Errors, SCH_SCHEMA_VALIDATION_FAILED' },
      ...{ when: 'message.catalogs is no array', codes: ['SCH_SCHEMA_VALIDATION_FAILED'] },
    },
    ({ self }) => self.send(actions.publish, { message: { catalogs: 'none' } }),
  ),
  refusal(
    {
      ...{ name: 'format-invalid', clause: 'Catalog spec: Errors, SCH_INVALID_FORMAT' },
      ...{ when: 'validity.startDate is no date', codes: ['SCH_INVALID_FORMAT'] },
    },
    ({ self, samples }) => {
      const catalog = samples.catalog('none', { resources: [{ id: 'r' }] });
      const validity = { startDate: 'soon' };
      return self.send(actions.publish, { message: { catalogs: [{ ...catalog, validity }] } });
    },
  ),
  refusal(
    {
      ...{ name: 'directive-names-catalog', clause: publishing, codes: ['SCH_SCHEMA_VALIDATION_FAILED'] },
      when: 'a directive names no catalog of the request',
    },
    ({ self, samples }) => {
      const { catalog, directive, plain } = samples;
      const catalogs = [catalog('none', { resources: [plain('r')] })];
      return self.send(actions.publish, { message: { catalogs, publishDirectives: [directive('other')] } });
    },
  ),
  refusal(
    {
      ...{ name: 'directive-names-resource', clause: 'Catalog spec: publishDirectives, resourceId' },
      ...{ status: 400, codes: [], when: 'a resource directive names no resource of the request' },
    },
    ({ self, samples }) => {
      const { catalog, directive, plain, id } = samples;
      const extending = { resourceId: id('absent'), extends: { masterResourceId: id('template') } };
      return self.send(actions.publish, {
        message: {
          catalogs: [catalog('none', { resources: [plain('r')] })],
          publishDirectives: [directive('none', { resourceDirectives: [extending] })],
        },
      });
    },
  ),
  refusal(
    {
      ...{ name: 'directive-type', clause: 'Catalog spec: publishDirectives, catalogType' },
      ...{ when: 'catalogType is OTHER', codes: ['SCH_INVALID_ENUM'] },
    },
    ({ self, samples }) => {
      const { catalog, directive, plain } = samples;
      const publishDirectives = [{ ...directive('none'), catalogType: 'OTHER' }];
      const catalogs = [catalog('none', { resources: [plain('r')] })];
      return self.send(actions.publish, { message: { catalogs, publishDirectives } });
    },
  ),
  refusal(
    {
      ...{ name: 'directives-regular-only', clause: 'Catalog spec: publishDirectives, resourceDirectives' },
      ...{ status: 400, codes: [], when: 'the directive of a MASTER catalog has resourceDirectives' },
    },
    ({ self, samples }) => {
      const { catalog, directive, plain, id } = samples;
      const extending = { resourceId: id('r'), extends: { masterResourceId: id('template') } };
      const master = { catalogType: 'MASTER' as const, resourceDirectives: [extending] };
      return self.send(actions.publish, {
        message: {
          catalogs: [catalog('none', { resources: [plain('r')] })],
          publishDirectives: [directive('none', master)],
        },
      });
    },
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

/** For each required field of the specification, a correct publish without it. */
function withoutRequired({ catalog, directive, plain, id }: Samples): object[] {
  const extending = { resourceId: id('r'), extends: { masterResourceId: id('template') } };
  const whole = {
    catalogs: [catalog('none', { resources: [plain('r')], offers: [{ id: id('none-offer') }] })],
    publishDirectives: [directive('none', { resourceDirectives: [extending] })],
  };
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
  {
    name: 'on-publish-comes',
    clause: answering,
    expects: 'an on_publish with the messageId of the publish',
    async run({ published, waitSeconds }) {
      const { answer, callback } = await published();
      if (answer.status !== 200) throw new CheckSkipped('the publish was refused');
      expectThat(callback !== undefined, `none came within ${waitSeconds} s`);
    },
  },
  {
    name: 'on-publish-action',
    clause: answering,
    expects: 'context.action catalog/on_publish',
    run: async ({ published }) => expectAnswersRequest(await published()),
  },
  {
    name: 'on-publish-digest',
    clause: answering,
    expects: 'the digest of the request in context.requestDigest',
    run: async ({ published }) => expectRequestDigest(await published()),
  },
  {
    name: 'on-publish-signed',
    clause: 'Catalog spec: Authentication',
    expects: 'a signature that verifies with a key of the registry',
    async run({ published, registry }) {
      const asked = await published();
      await verifySender(registry, requireCallback(asked), asked.answer);
    },
  },
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

export function resultsOf(asked: Asked) {
  return listAt(requireCallback(asked).body, 'message', 'results');
}

export function resultOf(asked: Asked, catalogId: string) {
  const result = resultsOf(asked).find((one) => at(one, 'catalogId') === catalogId);
  if (result === undefined) throw new CheckSkipped(`on_publish has no result of ${catalogId}`);
  return result;
}
