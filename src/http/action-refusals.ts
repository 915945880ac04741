import type { Action, actions } from '../protocol/actions.ts';
import { nothingMatches } from '../protocol/discover-messages.ts';
import { parseEnvelope, parseQuery } from '../protocol/envelope.ts';
import { exampleIds } from '../protocol/example-catalog.ts';
import { type ActionExamples, actionExamples } from '../protocol/example-messages.ts';
import {
  invalidJson,
  type RefusalExample,
  refusalExample,
  refusalExamples,
  segments,
  type WrongValue,
} from './refusal-examples.ts';

/** Examples of refusals: first those common to all actions, then those of this action. */
export function refusalExamplesOf(id: string | undefined, action: Action): RefusalExample[] {
  const key = id as keyof typeof actions;
  const { query, bodies = {} }: Partial<ActionExamples> = actionExamples[key] ?? {};
  const [body] = Object.values(bodies);
  const rows = [...(action.body ? bodyRefusals(action) : []), ...(ownRefusals[key] ?? [])];
  return refusalExamples({ ...body?.value, query }, (request) => read(request, action), rows);
}

/** After the timestamp of the examples, so that a ttl of 30 seconds has elapsed. */
const readAt = new Date('2026-01-31T12:01:00Z');

function read({ query = {}, ...body }: Record<string, unknown>, action: Action): void {
  if (action.body) parseEnvelope(body, action, readAt);
  if (action.query) parseQuery(action.query, query);
}

type Row = WrongValue | RefusalExample;

function bodyRefusals({ kind, caller = 'bap', remembered }: Action): Row[] {
  const rows: Row[] = [
    invalidJson('{"context":'),
    ['contextMissing', 'The context has no messageId', 'context.messageId'],
    ['contextInvalid', 'A value of the context is wrong', 'context.timestamp', 'today'],
    ['action', 'The action belongs to another endpoint', 'context.action', 'confirm'],
    ['version', 'An older version', 'context.version', '1.1.0'],
  ];
  // A callback is never too late, may have unknown members, and names no caller.
  if (kind === 'callback') return rows;
  rows.push(
    ['ttl', 'The ttl has elapsed', 'context.ttl', 'PT30S'],
    ['unknownMember', 'An unknown member', 'extra', {}],
    refusalExample(
      'others',
      'It is signed by a participant that the context does not name',
      [
        'AUT_UNAUTHORIZED_ACTION',
        'The request is signed by provider.example.org/subscribers.beckn.one, which is not grocer.example.org.',
        { path: `$.context.${caller}Id` },
      ],
      { at: ['context', `${caller}Id`], value: 'grocer.example.org' },
    ),
  );
  if (remembered)
    rows.push(
      refusalExample(
        'repeated',
        'An earlier request had the same messageId',
        [
          'CTX_MESSAGE_ID_DUPLICATE',
          'An earlier request of this caller had the same messageId and another body.',
          { path: '$.context.messageId' },
        ],
        { at: ['context', 'transactionId'], value: 'another' },
      ),
    );
  return rows;
}

const noDate: WrongValue = ['format', 'A wrong date', 'message.catalogs.0.validity', { startDate: 'soon' }];

/** publish, and push, which has the same message. */
const publishRefusals: Row[] = [
  ['missing', 'A catalog has no id', 'message.catalogs.0.id'],
  ['untyped', 'Attributes name no schema', 'message.catalogs.0.resources.0.resourceAttributes.@context'],
  ['enum', 'The type is unknown', 'message.publishDirectives.0.catalogType', 'BASIC'],
  noDate,
  [
    'directive',
    'A directive names no catalog of the request',
    'message.publishDirectives.0.catalogId',
    'voltpath-koramangala',
  ],
];

const inQuery = 'query.subscriptionId';
const inMessage = 'message.subscriptionId';
const limitTooSmall: WrongValue = ['limit', 'A page of nothing', 'query.limit', '0'];
const limitTooLarge: WrongValue = ['limit', 'Too large a page', 'message.limit', 101];
const answersNothing = refusalExample('unasked', 'It does not answer a request', [
  'CTX_INVALID_FIELD',
  'This does not answer any of our requests.',
  { path: '$.context.messageId' },
]);

const noUuid = (path: string): WrongValue => ['noUuid', 'Not the id of a subscription', path, 'mine'];

function subscriptionRefusals(path: string): RefusalExample[] {
  return [
    refusalExample(
      'unknown',
      'An id that the service never issued',
      ['CTX_INVALID_FIELD', 'There is no such subscription.', { path: `$.${path}`, status: 404 }],
      { at: segments(path), value: exampleIds.unknownSubscription },
    ),
    othersSubscription(path),
  ];
}

function othersSubscription(path: string): RefusalExample {
  return refusalExample(
    'othersSubscription',
    'The subscription belongs to another participant',
    ['AUT_UNAUTHORIZED_ACTION', 'The subscription belongs to another participant.', { path: `$.${path}` }],
    { at: segments(path), value: exampleIds.othersSubscription },
  );
}

const ownRefusals: Partial<Record<keyof typeof actions, Row[]>> = {
  subscribe: [
    ['missing', 'Neither networks nor schema types', 'message.subscription.networkIds'],
    ['type', 'One network instead of a list', 'message.subscription.networkIds', 'nfh.global/beckn-nodes'],
    ['format', 'A network without a name', 'message.subscription.networkIds', ['']],
    noUuid(inQuery),
    ...subscriptionRefusals(inQuery),
    refusalExample('capacity', 'Too many subscriptions', [
      'POL_NP_CAPACITY_EXCEEDED',
      'discovery.example.org/subscribers.beckn.one has 1000 ACTIVE subscriptions, which is the maximum; deactivate one.',
    ]),
  ],
  listSubscriptions: [
    ['enum', 'The status is unknown', 'query.status', 'OPEN'],
    limitTooSmall,
    noUuid(inQuery),
    othersSubscription(inQuery),
  ],
  unsubscribe: [
    ['missing', 'The subscription is not named', inQuery],
    noUuid(inQuery),
    ...subscriptionRefusals(inQuery),
  ],
  publish: [
    ...publishRefusals,
    refusalExample(
      'network',
      'The publisher is not a member of the network (NETWORK_MEMBERSHIP=enforce)',
      [
        'AUT_DOMAIN_NOT_ALLOWED',
        'message.publishDirectives[0].visibleTo includes grocers.example.org/members, but provider.example.org/subscribers.beckn.one is not a member of it',
        { path: '$.message.publishDirectives[0].visibleTo' },
      ],
      { at: segments('message.publishDirectives.0.visibleTo'), value: ['grocers.example.org/members'] },
    ),
  ],
  push: [
    ...publishRefusals,
    refusalExample('unwanted', 'Nothing was subscribed to', [
      'BIZ_NO_RESULTS_FOUND',
      'No active subscription with catalog.example.org matches, and none of its catalogs is kept here.',
    ]),
  ],
  pull: [
    ['missing', 'The subscription is not named', inMessage],
    noUuid(inMessage),
    refusalExample(
      'inactive',
      'The subscription was deactivated',
      ['CTX_INVALID_FIELD', 'The subscription is INACTIVE.', { path: '$.message.subscriptionId' }],
      { at: segments(inMessage), value: exampleIds.inactiveSubscription },
    ),
    ['incremental', 'A mode that is not enabled', 'message.mode', 'INCREMENTAL'],
    ['enum', 'The mode is unknown', 'message.mode', 'ALL'],
    limitTooLarge,
    ...subscriptionRefusals(inMessage),
  ],
  search: [
    ['missing', 'There is no message', 'message'],
    ['enum', 'The type is unknown', 'message.filters.type', 'ANY'],
    ['format', 'A network without a name', 'message.filters.networkIds', ['']],
    limitTooLarge,
  ],
  discover: [
    ['missing', 'The radius has no distance', 'message.intent.spatial.0.distanceMeters'],
    ['operator', 'The operator is unknown', 'message.intent.spatial.0.op', 'NEAR'],
    ['type', 'The text is a list', 'message.intent.textSearch', []],
    refusalExample(
      'expression',
      'The filter does not begin at the root',
      [
        'SCH_INVALID_JSONPATH',
        "invalid JSONPath: a query starts with '$', at character 1",
        { path: '$.message.intent.filters.expression' },
      ],
      {
        at: ['message', 'intent', 'filters'],
        value: { type: 'jsonpath', expression: 'catalogs[*].resources[*]' },
      },
    ),
    ['media', 'Search by a picture', 'message.intent.mediaSearch', {}],
    refusalExample('slow', 'The search takes longer than DISCOVER_TIMEOUT_MS', [
      'NET_TIMEOUT',
      'The search was not finished in time.',
    ]),
    refusalExample('nothing', 'Nothing was found', ['BIZ_NO_RESULTS_FOUND', nothingMatches], {
      at: ['message', 'intent', 'textSearch'],
      value: 'hovercraft',
    }),
  ],
  onPublish: [
    ['missing', 'There are no results', 'message.results'],
    ['enum', 'The status is unknown', 'message.results.0.status', 'DONE'],
    ['type', 'A number is negative', 'message.results.0.stats.itemCount', -1],
    answersNothing,
  ],
  onPull: [
    ['missing', 'There is no status', 'message.status'],
    ['enum', 'The status is unknown', 'message.status', 'DONE'],
    ['both', 'FAILED with catalogs', 'message.status', 'FAILED'],
    ['type', 'Catalogs are not a list', 'message.catalogs', {}],
    noDate,
    answersNothing,
    refusalExample('stranger', 'A service answers that was not asked', [
      'AUT_UNAUTHORIZED_ACTION',
      'This pull was not requested from stranger.example.org/subscribers.beckn.one.',
    ]),
  ],
  onDiscover: [
    ['missing', 'There are no catalogs', 'message.catalogs'],
    ['empty', 'The list is empty', 'message.catalogs', []],
    noDate,
    answersNothing,
  ],
  crawlLog: [
    ['missing', 'The node is not named', 'query.nodeId'],
    ['format', 'The name of the node is empty', 'query.nodeId', ''],
    limitTooSmall,
    refusalExample(
      'others',
      'The log of another node',
      [
        'AUT_UNAUTHORIZED_ACTION',
        'The crawl log of grocer.example.org is not for provider.example.org/subscribers.beckn.one.',
        { path: '$.query.nodeId' },
      ],
      { at: ['query', 'nodeId'], value: 'grocer.example.org' },
    ),
  ],
};
