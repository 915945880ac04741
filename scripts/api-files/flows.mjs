// The three ways from a provider to a consumer, as an Arazzo description. Arazzo 1.0 does not describe callbacks: x-callback names the callback that
// follows a step, x-signed-by the signer of a request.

export function buildFlows(examples, catalog) {
  const payload = (action, variant = action, change = {}) => {
    const { context, message } = examples[action].bodies[variant].value;
    return {
      contentType: 'application/json',
      payload: {
        context: { version: context.version, action: context.action },
        message: { ...message, ...change },
      },
    };
  };
  const hosted = {
    ...catalog,
    id: 'voltpath-mysuru',
    descriptor: { name: 'Voltpath Mysuru', shortDesc: 'Charging near the palace' },
    resources: [{ id: 'voltpath:MYS-1', descriptor: { name: 'Palace Road: AC charger' } }],
    offers: undefined,
  };
  const words = (textSearch) => ({ intent: { textSearch }, limit: 20 });

  const publishPushDiscover = {
    workflowId: 'publish-push-discover',
    summary: 'A provider publishes; the catalog service pushes to its subscribers; a consumer finds it.',
    steps: [
      step('subscribe', 'catalog.subscribe', {
        ...{ 'x-signed-by': 'subscriber', 'x-callback': 'catalog/push' },
        description: 'From now on, the subscriber is sent what is published in the network.',
        requestBody: payload('subscribe'),
      }),
      step('publish', 'catalog.publish', {
        ...{ 'x-signed-by': 'provider', 'x-callback': 'catalog/on_publish' },
        description: 'The results come on catalog/on_publish.',
        requestBody: payload('publish'),
      }),
      discover(
        'The discovery service was pushed it, too.',
        payload('discover', 'words', words('fast charger')),
      ),
    ],
  };
  const subscribePull = {
    workflowId: 'subscribe-pull',
    summary: 'Who subscribes asks for all that was published before.',
    steps: [
      step('subscribe', 'catalog.subscribe', {
        'x-signed-by': 'subscriber',
        requestBody: payload('subscribe'),
        outputs: { subscriptionId: '$response.body#/message/subscriptions/0/subscriptionId' },
      }),
      step('pull', 'catalog.pull', {
        ...{ 'x-signed-by': 'subscriber', 'x-callback': 'catalog/on_pull' },
        description: 'The catalogs come on catalog/on_pull, or an address to fetch them from.',
        requestBody: payload('pull', 'pull', { subscriptionId: '$steps.subscribe.outputs.subscriptionId' }),
      }),
      step('list', 'catalog.listSubscriptions', {
        'x-signed-by': 'subscriber',
        parameters: [
          { name: 'subscriptionId', in: 'query', value: '$steps.subscribe.outputs.subscriptionId' },
        ],
      }),
    ],
  };
  const hostCrawlDiscover = {
    workflowId: 'self-host-crawl-discover',
    summary: 'A provider publishes signed files; the discovery service crawls them; a consumer finds them.',
    inputs: {
      type: 'object',
      properties: { nodeId: { type: 'string', description: 'SubscriberId of the publisher.' } },
      required: ['nodeId'],
    },
    steps: [
      step('publish', 'trigger.publishFiles', {
        description: 'Local, with the token of the trigger instead of a signature.',
        requestBody: { contentType: 'application/json', payload: { message: { catalogs: [hosted] } } },
      }),
      step('hint', 'discovery.hintCrawl', {
        description: 'Without it, the crawler comes when the index says that the next update is due.',
        requestBody: { contentType: 'application/json', payload: { nodeId: '$inputs.nodeId' } },
      }),
      discover('Once it is crawled.', payload('discover', 'words', words('palace road'))),
    ],
  };
  return {
    arazzo: '1.0.1',
    info: {
      title: 'Signpost flows',
      version: '2.0.0',
      description:
        'From a provider to a consumer. Who sends a request fills in messageId, transactionId, timestamp and its own id and address, and signs it (securitySchemes of the OpenAPI documents).',
    },
    sourceDescriptions: ['catalog', 'discovery', 'trigger'].map((name) => ({
      name,
      url: `./${name}.openapi.json`,
      type: 'openapi',
    })),
    workflows: [publishPushDiscover, subscribePull, hostCrawlDiscover],
  };
}

function step(stepId, operation, { description, ...rest }) {
  const [source, operationId] = operation.split('.');
  return {
    stepId,
    ...(description && { description }),
    operationId: `$sourceDescriptions.${source}.${operationId}`,
    ...rest,
    successCriteria: [{ condition: '$statusCode == 200' }],
  };
}

/** 202 means that nothing was found yet. */
function discover(description, requestBody) {
  return {
    ...step('discover', 'discovery.discover', {
      ...{ 'x-signed-by': 'consumer', 'x-callback': 'on_discover' },
      description,
      requestBody,
    }),
    onFailure: [
      {
        name: 'not-indexed-yet',
        type: 'retry',
        retryAfter: 1,
        retryLimit: 20,
        criteria: [{ condition: '$statusCode == 202' }],
      },
    ],
  };
}
