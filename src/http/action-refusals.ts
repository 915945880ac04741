import type { Action, actions } from '../protocol/actions.ts';
import { nothingMatches, spatialOperators } from '../protocol/discover-messages.ts';
import { exampleIds } from '../protocol/example-catalog.ts';
import {
  bodyRefusals,
  changed,
  empty,
  invalid,
  lacking,
  noSuch,
  type RefusalExample,
  refusalExample,
  segments,
} from './refusal-examples.ts';

/** Examples of refusals: first those common to all actions, then those of this action. */
export function refusalExamplesOf(id: string | undefined, action: Action): RefusalExample[] {
  const own = ownRefusals[id as keyof typeof actions] ?? [];
  return [...(action.body ? bodyRefusals(action) : []), ...own];
}

const noDate = changed('format', 'A date is none', 'message.catalogs.0.validity', { startDate: 'soon' }, [
  'SCH_INVALID_FORMAT',
  'must be a date such as 2026-01-31 or a date-time such as 2026-01-31T12:00:00Z',
  segments('message.catalogs.0.validity.startDate'),
]);

const namelessNetwork = (list: string) => empty('A network without a name', list, [''], `${list}.0`);

/** publish, and push, which has the same message. */
const publishRefusals: RefusalExample[] = [
  lacking('A catalog has no id', 'message.catalogs.0.id'),
  lacking(
    'Attributes do not name their schema',
    'message.catalogs.0.resources.0.resourceAttributes.@context',
    'untyped',
  ),
  noSuch('There is no such type', 'message.publishDirectives.0.catalogType', 'BASIC', 'MASTER, REGULAR'),
  noDate,
  invalid(
    'directive',
    'A directive names no catalog of the request',
    'message.publishDirectives.0.catalogId',
    'voltpath-koramangala',
    'names no catalog of this request',
  ),
];

const inQuery = 'query.subscriptionId';
const inMessage = 'message.subscriptionId';
const limitTooSmall = invalid('limit', 'A page of nothing', 'query.limit', '0', 'must be at least 1');
const limitTooLarge = invalid('limit', 'Too large a page', 'message.limit', 101, 'must be at most 100');
const answersNothing = refusalExample('unasked', 'It answers no request', [
  'CTX_INVALID_FIELD',
  'This answers no request of ours.',
  { path: '$.context.messageId' },
]);

const noUuid = (path: string) =>
  changed('noUuid', 'No id of a subscription', path, 'mine', ['CTX_INVALID_FIELD', 'must be a UUID']);

function subscriptionRefusals(path: string): RefusalExample[] {
  return [
    refusalExample(
      'unknown',
      'An id that the service never gave out',
      ['CTX_INVALID_FIELD', 'There is no such subscription.', { path: `$.${path}`, status: 404 }],
      { at: segments(path), value: exampleIds.unknownSubscription },
    ),
    othersSubscription(path),
  ];
}

function othersSubscription(path: string): RefusalExample {
  return refusalExample(
    'othersSubscription',
    'The subscription is that of another participant',
    ['AUT_UNAUTHORIZED_ACTION', 'The subscription belongs to somebody else.', { path: `$.${path}` }],
    { at: segments(path), value: exampleIds.othersSubscription },
  );
}

const ownRefusals: Partial<Record<keyof typeof actions, RefusalExample[]>> = {
  subscribe: [
    changed('missing', 'Neither networks nor schema types', 'message.subscription.networkIds', undefined, [
      'SCH_REQUIRED_FIELD_MISSING',
      'must have at least one of networkIds, schemaTypes',
      ['message', 'subscription'],
    ]),
    invalid(
      'type',
      'One network instead of a list',
      'message.subscription.networkIds',
      'nfh.global/beckn-nodes',
      'must be an array, not a string',
    ),
    namelessNetwork('message.subscription.networkIds'),
    noUuid(inQuery),
    ...subscriptionRefusals(inQuery),
    refusalExample('capacity', 'Too many subscriptions', [
      'POL_NP_CAPACITY_EXCEEDED',
      'discovery.example.org/subscribers.beckn.one has 1000 ACTIVE subscriptions, and may not have more; deactivate one.',
    ]),
  ],
  listSubscriptions: [
    noSuch('There is no such status', 'query.status', 'OPEN', 'ACTIVE, INACTIVE'),
    limitTooSmall,
    noUuid(inQuery),
    othersSubscription(inQuery),
  ],
  unsubscribe: [
    lacking('The subscription is not named', inQuery),
    noUuid(inQuery),
    ...subscriptionRefusals(inQuery),
  ],
  publish: [
    ...publishRefusals,
    refusalExample(
      'network',
      'The publisher is no member of the network (NETWORK_MEMBERSHIP=enforce)',
      [
        'AUT_DOMAIN_NOT_ALLOWED',
        'message.publishDirectives[0].visibleTo includes grocers.example.org/members, of which provider.example.org/subscribers.beckn.one is no member',
        { path: '$.message.publishDirectives[0].visibleTo' },
      ],
      { at: segments('message.publishDirectives.0.visibleTo'), value: ['grocers.example.org/members'] },
    ),
  ],
  push: [
    ...publishRefusals,
    refusalExample('unwanted', 'Nothing was subscribed to', [
      'BIZ_NO_RESULTS_FOUND',
      'No active subscription with catalog.example.org matches, and none of it is held here.',
    ]),
  ],
  pull: [
    lacking('The subscription is not named', inMessage),
    noUuid(inMessage),
    refusalExample(
      'inactive',
      'The subscription was deactivated',
      ['CTX_INVALID_FIELD', 'The subscription is INACTIVE.', { path: '$.message.subscriptionId' }],
      { at: segments(inMessage), value: exampleIds.inactiveSubscription },
    ),
    changed('incremental', 'A mode that is not enabled', 'message.mode', 'INCREMENTAL', [
      'NET_NOT_IMPLEMENTED',
      'INCREMENTAL is not enabled; use FULL',
    ]),
    noSuch('There is no such mode', 'message.mode', 'ALL', 'FULL, INCREMENTAL'),
    limitTooLarge,
    ...subscriptionRefusals(inMessage),
  ],
  search: [
    lacking('There is no message', 'message'),
    noSuch('There is no such type', 'message.filters.type', 'ANY', 'MASTER, REGULAR'),
    namelessNetwork('message.filters.networkIds'),
    limitTooLarge,
  ],
  discover: [
    lacking('The radius has no distance', 'message.intent.spatial.0.distanceMeters'),
    noSuch(
      'There is no such operator',
      'message.intent.spatial.0.op',
      'NEAR',
      spatialOperators.join(', '),
      'operator',
    ),
    invalid('type', 'The text is a list', 'message.intent.textSearch', [], 'must be a string, not an array'),
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
    changed('media', 'Search by a picture', 'message.intent.mediaSearch', {}, [
      'NET_NOT_IMPLEMENTED',
      'is not supported',
    ]),
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
    lacking('There are no results', 'message.results'),
    noSuch('There is no such status', 'message.results.0.status', 'DONE', 'ACCEPTED, REJECTED, PARTIAL'),
    invalid('type', 'A number is negative', 'message.results.0.stats.itemCount', -1, 'must be at least 0'),
    answersNothing,
  ],
  onPull: [
    lacking('There is no status', 'message.status'),
    noSuch('There is no such status', 'message.status', 'DONE', 'COMPLETED, FAILED'),
    changed('both', 'FAILED with catalogs', 'message.status', 'FAILED', [
      'SCH_REQUIRED_FIELD_MISSING',
      'is missing',
      ['message', 'error'],
    ]),
    invalid('type', 'Catalogs are no list', 'message.catalogs', {}, 'must be an array, not an object'),
    noDate,
    answersNothing,
    refusalExample('stranger', 'Another service answers than was asked', [
      'AUT_UNAUTHORIZED_ACTION',
      'stranger.example.org/subscribers.beckn.one was not asked for this pull.',
    ]),
  ],
  onDiscover: [
    lacking('There are no catalogs', 'message.catalogs'),
    invalid('empty', 'The list is empty', 'message.catalogs', [], 'must not be empty'),
    noDate,
    answersNothing,
  ],
  crawlLog: [
    lacking('The node is not named', 'query.nodeId'),
    empty('The node is named by nothing', 'query.nodeId', ''),
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
