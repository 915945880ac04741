import { generateSeed, privateKeyFromSeed } from '../../../src/protocol/keys.ts';
import type { Body } from '../network/actor.ts';
import type { PassedAnswer, PassedMessage, PassedRequest } from './broken-service.ts';
import {
  accepted,
  coded,
  inAnswer,
  messageFaults,
  type PlantedFault,
  requestFaults,
  type When,
} from './request-faults.ts';

// Faults of a discovery service, one for each check that should find it.

const intentOf = ({ body }: PassedRequest): Body => body?.message?.intent ?? {};
const asked =
  (fits: (intent: Body) => unknown, status: number): When =>
  (request, answer) =>
    request.path === '/discover' && answer.status === status && fits(intentOf(request));
/** The first question, which matches everything. */
const isFirst = ({ filters, spatial, textSearch }: Body) =>
  filters?.expression === '$.catalogs[*].resources[*]' && !spatial && !textSearch;
const onDiscover = ({ action }: PassedMessage) => action === 'on_discover';

/** Faults in the callbacks to some questions; `fits` selects the questions. */
function inCallback(
  check: string,
  what: string,
  fits: (intent: Body) => unknown,
  spoil: (message: PassedMessage) => void,
  group: PlantedFault['group'] = 1,
): PlantedFault {
  const messageIds = new Set<string>();
  return {
    ...{ check, what, group },
    answer(_answer, request) {
      if (request.path === '/discover' && fits(intentOf(request)))
        messageIds.add(request.body.context.messageId);
    },
    message(message) {
      if (onDiscover(message) && messageIds.has(message.body.context.messageId)) spoil(message);
    },
  };
}

/** Nothing is found, so no callback follows. */
const nothing = (answer: PassedAnswer) => {
  answer.status = 202;
};

const refusedInstead = (answer: PassedAnswer) => {
  answer.status = 400;
  answer.body.message.status = 'NACK';
  answer.body.message.error = { code: 'SCH_INVALID_JSONPATH', message: 'There is no such path.' };
};

const gibberish = 'qzxwvjkqzx';
const isNear = ({ spatial }: Body) => spatial?.[0]?.op === 'S_DWITHIN' && spatial[0].distanceMeters;
const hasRoot = (intent: Body, root: string) => String(intent.spatial?.[0]?.targets).startsWith(root);

/** Nothing is found, but the proxy sends an on_discover all the same: empty, or with the result of the first question. */
function answeredAnyway(
  check: string,
  what: string,
  fits: (intent: Body) => unknown,
  { isEmpty = false, group = 1 as PlantedFault['group'] } = {},
): PlantedFault {
  let first: Body;
  return {
    ...{ check, what, group },
    answer(answer, request) {
      if (!asked(fits, 202)(request, answer)) return;
      accepted(answer, request);
      const context = { ...first.context, ...request.body.context, action: 'on_discover' };
      const body = { context, message: isEmpty ? { catalogs: [] } : first.message };
      answer.also = [{ action: 'on_discover', body }];
    },
    message(message) {
      if (onDiscover(message)) first ??= message.body;
    },
  };
}

const answerFaults: PlantedFault[] = [
  inAnswer('discover-acknowledged', 'the acknowledgement has a context', asked(isFirst, 200), ({ body }) => {
    body.context = {};
  }),
  inCallback(
    'on-discover-comes',
    'none comes',
    isFirst,
    (message) => {
      message.isDropped = true;
    },
    'alone',
  ),
  inCallback('on-discover-action', 'the action is that of the request', isFirst, ({ body }) => {
    body.context.action = 'discover';
  }),
  inCallback(
    'on-discover-digest',
    'requestDigest is missing',
    isFirst,
    ({ body }) => delete body.context.requestDigest,
  ),
  inCallback('on-discover-signed', 'another key signs', isFirst, (message) => {
    message.signer = { subscriberId: '', recordId: '', privateKey: privateKeyFromSeed(generateSeed()) };
  }),
  inCallback('on-discover-sender', 'bppId is that of a provider', isFirst, ({ body }) => {
    body.context.bppId = 'somebody.example';
  }),
  inCallback(
    'on-discover-catalogs',
    'a catalog has no descriptor',
    isFirst,
    ({ body }) => delete body.message.catalogs[0].descriptor,
  ),
  answeredAnyway(
    'nothing-found',
    'an empty one comes',
    ({ filters, spatial, textSearch }) => filters && !spatial && !textSearch,
    { isEmpty: true },
  ),
];

const intentFaults: PlantedFault[] = [
  inCallback(
    'filter-selects',
    'a resource comes that is not selected',
    ({ filters, spatial, textSearch }) =>
      filters && !spatial && !textSearch && filters.expression.includes('?@.id'),
    ({ body }) => body.message.catalogs[0].resources.push({ id: 'another' }),
  ),
  inAnswer(
    'filter-absolute',
    'it is taken',
    asked(({ filters }) => filters?.expression === 'catalogs[*', 400),
    accepted,
  ),
  inAnswer(
    'filter-type',
    'any type is taken',
    asked(({ filters }) => filters?.type === 'xpath', 400),
    accepted,
  ),
  inAnswer(
    'text-finds',
    'texts find nothing',
    asked(({ textSearch, filters }) => textSearch && filters, 200),
    nothing,
  ),
  answeredAnyway('text-narrows', 'the text does not matter', ({ textSearch }) => textSearch === gibberish),
  inAnswer('spatial-near', 'places find nothing', asked(isNear, 200), nothing),
  inAnswer(
    'spatial-operation',
    'only op is known',
    asked(({ spatial }) => spatial?.[0]?.operation, 200),
    nothing,
  ),
  inAnswer(
    'spatial-target',
    'a wrong root is refused',
    asked((intent) => hasRoot(intent, '$.message'), 202),
    refusedInstead,
  ),
  answeredAnyway(
    'spatial-far',
    'the place does not matter',
    (intent) => isNear(intent) && hasRoot(intent, '$.catalogs'),
    { group: 2 },
  ),
  inAnswer(
    'spatial-distance',
    'it is taken',
    asked(({ spatial }) => spatial && !spatial[0].distanceMeters, 400),
    accepted,
  ),
];

const receivingFaults: PlantedFault[] = [
  inAnswer(
    'push-malformed',
    'it is taken',
    ({ path }, { status }) => path === '/catalog/push' && status === 400,
    accepted,
  ),
  inAnswer(
    'push-answered',
    '202 comes without an error',
    ({ path }, { status }) => path === '/catalog/push' && status === 202,
    ({ body }) => delete body.message.error,
  ),
  inAnswer(
    'codes-canonical',
    'a code of its own',
    asked(({ filters }) => filters?.expression === 'catalogs[*', 400),
    coded('SCH_BAD_PATH'),
    2,
  ),
];

/** Faults in questions and answers; those of crawling are in crawl-faults.ts. */
export const discoveryFaults: readonly PlantedFault[] = [
  ...requestFaults('/discover', { method: 'POST', path: '/catalog/push' }),
  ...answerFaults,
  ...intentFaults,
  ...receivingFaults,
  ...messageFaults(onDiscover),
];
