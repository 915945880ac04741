import { at, dropped, isOther, named, onPull, pull, refused, sent, stranger } from './catalog-fault-parts.ts';
import { accepted, coded, inAnswer, inMessage, type PlantedFault, refusedBy } from './request-faults.ts';

// Faults of pull, on_pull and downloads in a catalog service, one for each check that should find it.

export const pullFaults: PlantedFault[] = [
  inAnswer('pull-incremental', 'it is taken', refusedBy('NET_NOT_IMPLEMENTED'), accepted),
  inAnswer(
    'pull-invalid-subscription',
    'it is taken',
    refused(pull, ({ subscriptionId }) => subscriptionId === 'none'),
    accepted,
  ),
  inAnswer(
    'pull-unknown-subscription',
    'another status',
    refused(pull, () => true, 404),
    coded('CTX_INVALID_FIELD', 400),
  ),
  inAnswer('pull-own-only', 'another status', at('POST', pull, isOther), coded('CTX_INVALID_FIELD', 404)),
  inAnswer(
    'pull-limit',
    'any limit is taken',
    refused(pull, ({ limit }) => limit === 101),
    accepted,
  ),
  inAnswer(
    'pull-dates-ignored',
    'they are looked at',
    at('POST', pull, (request) => sent(request).fromDate),
    (answer, request) => {
      const error = { code: 'NET_CATALOG_STALE', message: 'There is nothing so old.' };
      answer.status = 400;
      answer.body = { message: { status: 'NACK', messageId: request.body.context.messageId, error } };
    },
  ),
  inAnswer(
    'pull-acknowledged',
    'another messageId',
    at('POST', pull, (_request, { status }) => status === 200),
    ({ body }) => {
      body.message.messageId = 'another';
    },
  ),
  inMessage('on-pull-comes', 'none comes', onPull, dropped, 'alone'),
  inMessage('on-pull-action', 'the action is that of the request', onPull, ({ body }) => {
    body.context.action = 'catalog/pull';
  }),
  inMessage('on-pull-digest', 'requestDigest is that of another request', onPull, ({ body }) => {
    body.context.requestDigest.digest = `BLAKE-512=${'A'.repeat(86)}==`;
  }),
  inMessage('on-pull-signed', 'another key signs', onPull, (message) => {
    message.signer = stranger();
  }),
  inMessage(
    'on-pull-status',
    'FAILED comes with catalogs',
    onPull,
    ({ body }) => {
      body.message.status = 'FAILED';
    },
    2,
  ),
  inMessage('on-pull-one-form', 'both forms come', onPull, ({ body }) => {
    body.message.downloadManifest = { url: 'https://catalog.example/download' };
  }),
  inMessage(
    'on-pull-pagination',
    'pagination is missing',
    onPull,
    ({ body }) => delete body.message.pagination,
  ),
  inMessage('pull-latest', 'an earlier version comes', onPull, ({ body }) => {
    for (const one of body.message.catalogs.filter(named('chargers'))) one.resources = [{ id: 'r1' }];
  }),
  inMessage('pull-matches', 'everything comes', onPull, ({ body }) => {
    for (const { id } of body.message.catalogs.filter(named('chargers')))
      body.message.catalogs.push({ id: id.replace(/chargers$/, 'plain') });
  }),
  inAnswer(
    'pull-needs-active',
    'an ended subscription will do',
    refused(pull, ({ subscriptionId, limit, mode }) => subscriptionId !== 'none' && !limit && !mode),
    accepted,
  ),
  inAnswer(
    'codes-canonical',
    'a code of its own',
    refused(pull, () => true, 404),
    coded('CTX_NO_SUCH_SUBSCRIPTION'),
    2,
  ),
];

/** Faults of downloads, which occur only with large answers. */
export const downloadFaults: PlantedFault[] = [
  inMessage(
    'download-shape',
    'expiresAt is missing',
    onPull,
    ({ body }) => delete body.message.downloadManifest.expiresAt,
  ),
  inMessage('download-checksum', 'the checksum is another one', onPull, ({ body }) => {
    body.message.downloadManifest.checksum = `sha256:${'0'.repeat(64)}`;
  }),
];
