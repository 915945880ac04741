import type { Body } from '../network/actor.ts';
import {
  at,
  dropped,
  named,
  onPublish,
  publish,
  refused,
  result,
  resultOf,
  sent,
  stranger,
} from './catalog-fault-parts.ts';
import { accepted, coded, inAnswer, inMessage, type PlantedFault } from './request-faults.ts';

// Faults of publish and on_publish in a catalog service, one for each check that should find it.

const only = (message: Body): Body => message.catalogs?.[0] ?? {};
const extensionIn = (directives: Body): Body => directives?.[0]?.resourceDirectives?.[0];

function attributeFaults(of: 'resource' | 'offer' | 'consideration'): PlantedFault[] {
  const prefix = of === 'resource' ? '' : `${of}-`;
  return [
    inMessage(
      `${prefix}attributes-checked`,
      'attributes are not checked',
      resultOf(`toaster-${of}`),
      result(`toaster-${of}`, (one) => {
        one.status = 'ACCEPTED';
      }),
    ),
    inAnswer(
      `${prefix}attributes-typed`,
      'another status',
      refused(publish, (message) => named(`no-type-${of}`)(only(message))),
      coded('SCH_REQUIRED_FIELD_MISSING', 422),
    ),
  ];
}

export const publishFaults: PlantedFault[] = [
  inAnswer(
    'publish-without-catalogs',
    'it is taken',
    refused(publish, ({ catalogs }) => catalogs?.length === 0),
    accepted,
  ),
  inAnswer(
    'required-field-missing',
    'another code',
    refused(publish, (message) => only(message).id !== undefined && !only(message).provider),
    coded('SCH_SCHEMA_VALIDATION_FAILED'),
  ),
  inAnswer(
    'catalog-needs-content',
    'it is taken',
    refused(publish, (message) => only(message).provider && !only(message).resources),
    accepted,
  ),
  inAnswer(
    'schema-violated',
    'another code',
    refused(publish, ({ catalogs }) => catalogs === 'none'),
    coded('SCH_INVALID_FORMAT'),
  ),
  inAnswer(
    'format-invalid',
    'it is taken',
    refused(publish, (message) => only(message).validity),
    accepted,
  ),
  inAnswer(
    'directive-names-catalog',
    'another code',
    refused(publish, ({ publishDirectives }) => publishDirectives?.[0]?.catalogId?.endsWith('-other')),
    coded('SCH_REQUIRED_FIELD_MISSING'),
  ),
  inAnswer(
    'directive-names-resource',
    'it is taken',
    refused(publish, ({ publishDirectives }) =>
      extensionIn(publishDirectives)?.resourceId?.endsWith('-absent'),
    ),
    accepted,
  ),
  inAnswer(
    'directive-type',
    'another code',
    refused(publish, ({ publishDirectives }) => publishDirectives?.[0]?.catalogType === 'OTHER'),
    coded('SCH_SCHEMA_VALIDATION_FAILED'),
  ),
  inAnswer(
    'directives-regular-only',
    'it is taken',
    refused(
      publish,
      ({ publishDirectives }) =>
        publishDirectives?.[0]?.catalogType === 'MASTER' && extensionIn(publishDirectives),
    ),
    accepted,
  ),
  inAnswer(
    'body-too-large',
    'another status',
    refused(publish, () => true, 413),
    coded('SCH_SCHEMA_VALIDATION_FAILED', 400),
  ),
  inAnswer(
    'publish-acknowledged',
    'the acknowledgement has a context',
    at('POST', publish, (request) => sent(request).catalogs?.length === 4),
    ({ body }) => {
      body.context = {};
    },
  ),
  inMessage('on-publish-comes', 'none comes', onPublish, dropped, 'alone'),
  inMessage('on-publish-action', 'the action is that of the request', onPublish, ({ body }) => {
    body.context.action = 'catalog/publish';
  }),
  inMessage(
    'on-publish-digest',
    'requestDigest is missing',
    onPublish,
    ({ body }) => delete body.context.requestDigest,
  ),
  inMessage('on-publish-signed', 'another key signs', onPublish, (message) => {
    message.signer = stranger();
  }),
  inMessage('on-publish-shape', 'stats have no numbers', onPublish, ({ body }) => {
    body.message.results[0].stats = { itemCount: 'two' };
  }),
  inMessage('on-publish-results', 'a result comes twice', onPublish, ({ body }) =>
    body.message.results.push(body.message.results.find(named('plain'))),
  ),
  inMessage(
    'sound-accepted',
    'a sound catalog is REJECTED',
    onPublish,
    result('plain', (one) => {
      one.status = 'REJECTED';
    }),
  ),
  inMessage(
    'offers-alone-accepted',
    'resources are asked for',
    onPublish,
    result('offers', (one) => {
      one.status = 'REJECTED';
    }),
  ),
  inMessage(
    'result-errors',
    'errors are missing',
    onPublish,
    result('mixed', (one) => delete one.errors),
    2,
  ),
  ...(['resource', 'offer', 'consideration'] as const).flatMap(attributeFaults),
  inMessage('on-publish-once', 'it comes twice', onPublish, (message) => {
    message.also = [...(message.also ?? []), { action: 'catalog/on_publish', body: message.body }];
  }),
];
