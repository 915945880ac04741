// A Bruno collection: one request for each example of a signed action that a participant sends, and one script that signs them all. It needs Bruno's
// developer mode, because the script uses Node's crypto.

/** The service that receives an action, and its sender, as names of variables of the environment. */
const sent = {
  publish: { to: 'catalogUrl', as: 'provider' },
  subscribe: { to: 'catalogUrl', as: 'consumer' },
  listSubscriptions: { to: 'catalogUrl', as: 'consumer' },
  pull: { to: 'catalogUrl', as: 'consumer' },
  search: { to: 'catalogUrl', as: 'consumer' },
  unsubscribe: { to: 'catalogUrl', as: 'consumer' },
  discover: { to: 'discoveryUrl', as: 'consumer' },
  crawlLog: { to: 'discoveryUrl', as: 'provider' },
};

export function buildCollection(actions, examples) {
  const requests = Object.entries(sent).flatMap(([name, { to, as }]) => {
    const { bodies, query = {} } = examples[name];
    const variants = Object.entries(bodies);
    return (variants.length > 0 ? variants : [[name, undefined]]).map(([variant, example]) => ({
      ...{ name, to, as, query, action: actions[name] },
      title: variants.length > 1 ? `${name}-${variant}` : name,
      body: example?.value,
    }));
  });
  return {
    'bruno/bruno.json': `${JSON.stringify(settings, null, 2)}\n`,
    'bruno/collection.bru': renderBlock('script:pre-request', signingScript),
    'bruno/environments/demo.bru': renderEnvironment(),
    ...Object.fromEntries(
      requests.map((request, index) => [`bruno/${request.title}.bru`, renderRequest(request, index + 1)]),
    ),
  };
}

const settings = {
  version: '1',
  name: 'Signpost',
  type: 'collection',
  ignore: ['node_modules'],
  scripts: { moduleWhitelist: ['crypto', 'buffer'], filesystemAccess: { allow: false } },
};

function renderEnvironment() {
  const vars = {
    catalogUrl: 'http://127.0.0.1:4002',
    discoveryUrl: 'http://127.0.0.1:4003',
    providerId: 'provider.signpost.test',
    providerUri: 'http://127.0.0.1:4000/inbox',
    providerKeyId: 'key-1',
    consumerId: 'consumer.signpost.test',
    consumerUri: 'http://127.0.0.1:4000/inbox',
    consumerKeyId: 'key-1',
  };
  const lines = Object.entries(vars).map(([name, value]) => `${name}: ${value}`);
  return `${renderBlock('vars', lines.join('\n'))}
vars:secret [
  providerSeed,
  consumerSeed
]
`;
}

function renderRequest({ title, to, as, query, action, body }, sequence) {
  // The id of a subscription is known only once it exists.
  const values = Object.entries(query).map(([name, value]) => [
    name,
    name === 'subscriptionId' ? '{{subscriptionId}}' : name === 'nodeId' ? '{{providerId}}' : value,
  ]);
  const search = values.map(([name, value]) => `${name}=${value}`).join('&');
  const text = body && JSON.stringify(withVariables(body), null, 2);
  return [
    renderBlock('meta', `name: ${title}\ntype: http\nseq: ${sequence}`),
    renderBlock(
      action.method.toLowerCase(),
      `url: {{${to}}}${action.path}${search && `?${search}`}\nbody: ${text ? 'json' : 'none'}\nauth: none`,
    ),
    ...(search
      ? [renderBlock('params:query', values.map(([name, value]) => `${name}: ${value}`).join('\n'))]
      : []),
    ...(text ? [renderBlock('body:json', text)] : []),
    renderBlock('vars:pre-request', `signer: ${as}`),
    ...(title === 'subscribe' ? [renderBlock('script:post-response', rememberSubscription)] : []),
    renderBlock('assert', 'res.status: lt 300'),
    renderBlock('docs', action.summary),
  ].join('\n');
}

function withVariables({ context, message }) {
  const { version, action } = context;
  const known = 'subscriptionId' in message ? { ...message, subscriptionId: '{{subscriptionId}}' } : message;
  return { context: { version, action }, message: known };
}

function renderBlock(name, text) {
  const lines = text.split('\n').map((line) => (line === '' ? '' : `  ${line}`));
  return `${name} {\n${lines.join('\n')}\n}\n`;
}

const rememberSubscription = `const [subscription] = res.getBody().message.subscriptions;
bru.setVar('subscriptionId', subscription.subscriptionId);`;

const signingScript = `// Fills in ids and time, and signs: Ed25519 over the lines (created), (expires) and the BLAKE2b-512 digest of the body.
const { createHash, createPrivateKey, randomUUID, sign } = require('crypto');
const signer = bru.getRequestVar('signer');
const [id, uri, keyId, seed] = ['Id', 'Uri', 'KeyId', 'Seed'].map((name) => bru.getEnvVar(signer + name));
const isPost = req.getMethod() === 'POST';
let body = '';
if (isPost) {
  const given = req.getBody();
  const document = typeof given === 'string' ? JSON.parse(given) : given;
  const side = document.context.action === 'catalog/publish' ? 'bpp' : 'bap';
  const timestamp = new Date().toISOString();
  const ids = { messageId: randomUUID(), transactionId: randomUUID(), timestamp };
  document.context = { ...document.context, ...ids, [side + 'Id']: id, [side + 'Uri']: uri };
  body = JSON.stringify(document).replaceAll('{{subscriptionId}}', bru.getVar('subscriptionId') ?? '');
  req.setBody(body);
}
const created = Math.floor(Date.now() / 1000);
const expires = created + (isPost ? 300 : 60);
const digest = createHash('blake2b512').update(body).digest('base64');
const text = '(created): ' + created + '\\n(expires): ' + expires + '\\ndigest: BLAKE-512=' + digest;
const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.from(seed, 'base64')]);
const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
const signature = sign(null, Buffer.from(text), key).toString('base64');
const parts = {
  keyId: id + '|' + keyId + '|ed25519',
  algorithm: 'ed25519',
  created,
  expires,
  headers: '(created) (expires) digest',
  signature,
};
const list = Object.entries(parts).map(([name, value]) => name + '="' + value + '"');
req.setHeader('Authorization', 'Signature ' + list.join(','));`;
