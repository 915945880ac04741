import type { Action, actions } from '../protocol/actions.ts';
import { nothingMatches, spatialOperators } from '../protocol/discover-messages.ts';
import { exampleIds } from '../protocol/example-catalog.ts';
import type { Segments } from '../protocol/fault.ts';
import { bodyRefusals, changedExample, type RefusalExample, refusalExample } from './refusal-examples.ts';

/** Examples of refusals: first those common to all actions, then those of this action. */
export function refusalExamplesOf(id: string | undefined, action: Action): RefusalExample[] {
  const own = ownRefusals[id as keyof typeof actions] ?? [];
  return [...(action.body ? bodyRefusals(action) : []), ...own];
}

const missing = ['SCH_REQUIRED_FIELD_MISSING', 'is missing'] as const;
const noUuid = ['CTX_INVALID_FIELD', 'must be a UUID'] as const;

const inCatalog = (...rest: Segments) => ['message', 'catalogs', 0, ...rest];
const inDirective = (member: string) => ['message', 'publishDirectives', 0, member];
const inSpatial = (member: string) => ['message', 'intent', 'spatial', 0, member];

const noDate = changedExample(
  'format',
  'A date is none',
  { at: inCatalog('validity'), value: { startDate: 'soon' } },
  [
    'SCH_INVALID_FORMAT',
    'must be a date such as 2026-01-31 or a date-time such as 2026-01-31T12:00:00Z',
    inCatalog('validity', 'startDate'),
  ],
);

/** Networks in a list, one of which has no name. */
function namelessNetwork(...list: Segments): RefusalExample {
  return changedExample('format', 'A network without a name', { at: list, value: [''] }, [
    'SCH_INVALID_FORMAT',
    'must not be empty',
    [...list, 0],
  ]);
}

/** publish, and push, which has the same message. */
const publishRefusals: RefusalExample[] = [
  changedExample('missing', 'A catalog has no id', { at: inCatalog('id') }, missing),
  changedExample(
    'untyped',
    'Attributes do not name their schema',
    { at: inCatalog('resources', 0, 'resourceAttributes', '@context') },
    missing,
  ),
  changedExample('enum', 'There is no such type', { at: inDirective('catalogType'), value: 'BASIC' }, [
    'SCH_INVALID_ENUM',
    'must be one of MASTER, REGULAR',
  ]),
  noDate,
  changedExample(
    'directive',
    'A directive names no catalog of the request',
    { at: inDirective('catalogId'), value: 'voltpath-koramangala' },
    ['SCH_SCHEMA_VALIDATION_FAILED', 'names no catalog of this request'],
  ),
];

const inQuery = ['query', 'subscriptionId'];
const inMessage = ['message', 'subscriptionId'];
const limitTooSmall = changedExample('limit', 'A page of nothing', { at: ['query', 'limit'], value: '0' }, [
  'SCH_SCHEMA_VALIDATION_FAILED',
  'must be at least 1',
]);

/** An unknown subscription, and one of another owner. */
function subscriptionRefusals(at: Segments): RefusalExample[] {
  const path = `$.${at.join('.')}`;
  return [
    refusalExample(
      'unknown',
      'An id that the service never gave out',
      ['CTX_INVALID_FIELD', 'There is no such subscription.', { path, status: 404 }],
      { at, value: exampleIds.unknownSubscription },
    ),
    othersSubscription(at),
  ];
}

function othersSubscription(at: Segments): RefusalExample {
  const path = `$.${at.join('.')}`;
  return refusalExample(
    'othersSubscription',
    'The subscription is that of another participant',
    ['AUT_UNAUTHORIZED_ACTION', 'The subscription belongs to somebody else.', { path }],
    { at, value: exampleIds.othersSubscription },
  );
}

const ownRefusals: Partial<Record<keyof typeof actions, RefusalExample[]>> = {
  subscribe: [
    changedExample(
      'missing',
      'Neither networks nor schema types',
      { at: ['message', 'subscription', 'networkIds'] },
      [
        'SCH_REQUIRED_FIELD_MISSING',
        'must have at least one of networkIds, schemaTypes',
        ['message', 'subscription'],
      ],
    ),
    changedExample(
      'type',
      'One network instead of a list',
      { at: ['message', 'subscription', 'networkIds'], value: 'nfh.global/beckn-nodes' },
      ['SCH_SCHEMA_VALIDATION_FAILED', 'must be an array, not a string'],
    ),
    namelessNetwork('message', 'subscription', 'networkIds'),
    changedExample('noUuid', 'No id of a subscription', { at: inQuery, value: 'mine' }, noUuid),
    ...subscriptionRefusals(inQuery),
    refusalExample('capacity', 'Too many subscriptions', [
      'POL_NP_CAPACITY_EXCEEDED',
      'discovery.example.org/subscribers.beckn.one has 1000 ACTIVE subscriptions, and may not have more; deactivate one.',
    ]),
  ],
  listSubscriptions: [
    changedExample('enum', 'There is no such status', { at: ['query', 'status'], value: 'OPEN' }, [
      'SCH_INVALID_ENUM',
      'must be one of ACTIVE, INACTIVE',
    ]),
    limitTooSmall,
    changedExample('noUuid', 'No id of a subscription', { at: inQuery, value: 'mine' }, noUuid),
    othersSubscription(inQuery),
  ],
  unsubscribe: [
    changedExample('missing', 'The subscription is not named', { at: inQuery }, missing),
    changedExample('noUuid', 'No id of a subscription', { at: inQuery, value: 'mine' }, noUuid),
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
      { at: inDirective('visibleTo'), value: ['grocers.example.org/members'] },
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
    changedExample('missing', 'The subscription is not named', { at: inMessage }, missing),
    changedExample('noUuid', 'No id of a subscription', { at: inMessage, value: 'mine' }, noUuid),
    refusalExample(
      'inactive',
      'The subscription was deactivated',
      ['CTX_INVALID_FIELD', 'The subscription is INACTIVE.', { path: '$.message.subscriptionId' }],
      { at: inMessage, value: exampleIds.inactiveSubscription },
    ),
    changedExample(
      'incremental',
      'A mode that is not enabled',
      { at: ['message', 'mode'], value: 'INCREMENTAL' },
      ['NET_NOT_IMPLEMENTED', 'INCREMENTAL is not enabled; use FULL'],
    ),
    changedExample('enum', 'There is no such mode', { at: ['message', 'mode'], value: 'ALL' }, [
      'SCH_INVALID_ENUM',
      'must be one of FULL, INCREMENTAL',
    ]),
    changedExample('limit', 'Too large a page', { at: ['message', 'limit'], value: 101 }, [
      'SCH_SCHEMA_VALIDATION_FAILED',
      'must be at most 100',
    ]),
    ...subscriptionRefusals(inMessage),
  ],
  search: [
    changedExample('missing', 'There is no message', { at: ['message'] }, missing),
    changedExample('enum', 'There is no such type', { at: ['message', 'filters', 'type'], value: 'ANY' }, [
      'SCH_INVALID_ENUM',
      'must be one of MASTER, REGULAR',
    ]),
    namelessNetwork('message', 'filters', 'networkIds'),
    changedExample('limit', 'Too large a page', { at: ['message', 'limit'], value: 101 }, [
      'SCH_SCHEMA_VALIDATION_FAILED',
      'must be at most 100',
    ]),
  ],
  discover: [
    changedExample('missing', 'The radius has no distance', { at: inSpatial('distanceMeters') }, missing),
    changedExample('operator', 'There is no such operator', { at: inSpatial('op'), value: 'NEAR' }, [
      'SCH_INVALID_ENUM',
      `must be one of ${spatialOperators.join(', ')}`,
    ]),
    changedExample('type', 'The text is a list', { at: ['message', 'intent', 'textSearch'], value: [] }, [
      'SCH_SCHEMA_VALIDATION_FAILED',
      'must be a string, not an array',
    ]),
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
    changedExample('media', 'Search by a picture', { at: ['message', 'intent', 'mediaSearch'], value: {} }, [
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
    changedExample('missing', 'There are no results', { at: ['message', 'results'] }, missing),
    changedExample(
      'enum',
      'There is no such status',
      { at: ['message', 'results', 0, 'status'], value: 'DONE' },
      ['SCH_INVALID_ENUM', 'must be one of ACCEPTED, REJECTED, PARTIAL'],
    ),
    changedExample(
      'type',
      'A number is negative',
      { at: ['message', 'results', 0, 'stats', 'itemCount'], value: -1 },
      ['SCH_SCHEMA_VALIDATION_FAILED', 'must be at least 0'],
    ),
    answersNothing(),
  ],
  onPull: [
    changedExample('missing', 'There is no status', { at: ['message', 'status'] }, missing),
    changedExample('enum', 'There is no such status', { at: ['message', 'status'], value: 'DONE' }, [
      'SCH_INVALID_ENUM',
      'must be one of COMPLETED, FAILED',
    ]),
    changedExample('both', 'FAILED with catalogs', { at: ['message', 'status'], value: 'FAILED' }, [
      'SCH_REQUIRED_FIELD_MISSING',
      'is missing',
      ['message', 'error'],
    ]),
    changedExample('type', 'Catalogs are no list', { at: ['message', 'catalogs'], value: {} }, [
      'SCH_SCHEMA_VALIDATION_FAILED',
      'must be an array, not an object',
    ]),
    noDate,
    answersNothing(),
    refusalExample('stranger', 'Another service answers than was asked', [
      'AUT_UNAUTHORIZED_ACTION',
      'stranger.example.org/subscribers.beckn.one was not asked for this pull.',
    ]),
  ],
  onDiscover: [
    changedExample('missing', 'There are no catalogs', { at: ['message', 'catalogs'] }, missing),
    changedExample('empty', 'The list is empty', { at: ['message', 'catalogs'], value: [] }, [
      'SCH_SCHEMA_VALIDATION_FAILED',
      'must not be empty',
    ]),
    noDate,
    answersNothing(),
  ],
  crawlLog: [
    changedExample('missing', 'The node is not named', { at: ['query', 'nodeId'] }, missing),
    changedExample('format', 'The node is named by nothing', { at: ['query', 'nodeId'], value: '' }, [
      'SCH_INVALID_FORMAT',
      'must not be empty',
    ]),
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

function answersNothing(): RefusalExample {
  const path = '$.context.messageId';
  return refusalExample('unasked', 'It answers no request', [
    'CTX_INVALID_FIELD',
    'This answers no request of ours.',
    { path },
  ]);
}
