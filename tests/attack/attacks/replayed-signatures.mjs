// A catalog service that the discovery service subscribes to replays the signatures of its GETs as those of DELETEs at another service: they cover
// neither a method nor an address. Within the 10 s before such a signature expires, it ends the subscription there; the discovery service notices at
// its next check, here at its start, and has missed nothing. Later, the signature is worthless.
import { randomUUID } from 'node:crypto';
import { bodyDigest } from '../../../dist/protocol/digest.js';
import { parseSignatureHeader, signRequest } from '../../../dist/protocol/request-signature.js';
import { keyOf } from '../attack-tools.mjs';

const networkId = 'nfh.global/beckn-nodes';
/** An honest signature of a GET expires after 10 s. */
const expiredMs = 11_000;
const findWithinMs = 30_000;

export const settings = ({ catalog, mallory }) => ({
  DISCOVERY_SUBSCRIPTIONS: JSON.stringify(
    [catalog, mallory].map(({ url: catalogUrl }) => ({ catalogUrl, networkIds: [networkId] })),
  ),
});

export async function attack(tools) {
  const { people, catalogUrl, discoveryUrl, post, send, actions, count, pause, underWay, signal } = tools;
  const { mallory } = people;
  const captured = playCatalogService(tools);
  const address = `${catalogUrl}${actions.unsubscribe.path}`;
  /** The subscriptions of the discovery service there, listed with its own signature. */
  async function listSubscriptions(headers) {
    const { body } = await post(`${address}?status=ACTIVE`, { method: 'GET', headers });
    return JSON.parse(body).message.subscriptions?.map(({ subscriptionId }) => subscriptionId) ?? [];
  }
  const end = (id, headers) => post(`${address}?subscriptionId=${id}`, { method: 'DELETE', headers });

  // After an unwanted push, the discovery service checks its subscription, at most every ten seconds.
  const provoke = () => send(discoveryUrl, actions.push, unwanted(), { as: mallory, side: 'bpp' });
  async function nextSignature() {
    const { length: before } = captured;
    for (; captured.length === before && !signal.aborted; await pause(500)) await provoke();
    return { authorization: captured.at(-1) ?? '' };
  }

  const first = await nextSignature();
  const ids = await listSubscriptions(first);
  for (const id of ids) count(`at once ${(await end(id, first)).status}`);
  while (!signal.aborted) {
    const headers = await nextSignature();
    const { created } = parseSignatureHeader(headers.authorization);
    await pause(created * 1000 + expiredMs - Date.now());
    for (const id of ids) count(`late ${(await end(id, headers)).status}`);
    underWay();
  }
}

export async function findEffects(scene, told) {
  const effects = [];
  if (!Object.keys(told).some((what) => what.startsWith('at once'))) effects.push('nothing was attacked');
  if (told['late 200']) effects.push(`${told['late 200']} late replays were accepted`);
  const isFound = await scene.honest.findsWhatItPublishes(
    scene,
    findWithinMs,
    scene.roles.discovery.startAgain,
  );
  if (!isFound)
    effects.push('what was published after it is not found, although discovery was started again');
  return effects;
}

/** Returns an object that collects the signatures of its GETs. */
function playCatalogService({ people: { mallory }, discoveryUrl, post, actions, answerAt }) {
  const captured = [];
  const subscriptionId = randomUUID();
  answerAt(mallory, async ({ method, url, headers }, body) => {
    if (method === 'GET') captured.push(headers.authorization);
    const timestamp = new Date().toISOString();
    const asked = body.length > 0 ? JSON.parse(body) : { context: { messageId: 'm', transactionId: 't' } };
    const context = { ...asked.context, version: '2.0.0', timestamp };
    const pagination = { total: 0, limit: 100, offset: 0 };
    if (url.startsWith(actions.subscribe.path)) {
      const times = { createdAt: timestamp, updatedAt: timestamp };
      const subscription = {
        subscriptionId,
        status: 'ACTIVE',
        networkIds: [networkId],
        schemaTypes: [],
        ...times,
      };
      return {
        context: { ...context, action: 'catalog/on_subscription' },
        message: { subscriptions: [subscription] },
      };
    }
    if (url.startsWith(actions.search.path))
      return { context: { ...context, action: 'catalog/on_search' }, message: { catalogs: [], pagination } };
    if (url.startsWith(actions.pull.path)) {
      const requestDigest = { digest: bodyDigest(body) };
      const answer = {
        context: { ...context, action: actions.onPull.name, requestDigest },
        message: { status: 'COMPLETED', catalogs: [], pagination },
      };
      const bytes = Buffer.from(JSON.stringify(answer));
      const authorization = signRequest(keyOf(mallory), bytes, { now: new Date() });
      setImmediate(() =>
        post(`${discoveryUrl}${actions.onPull.path}`, { body: bytes, headers: { authorization } }),
      );
    }
    return { message: { status: 'ACK', messageId: asked.context.messageId } };
  });
  return captured;
}

/** For a network that the discovery service does not use. */
function unwanted() {
  const id = `unwanted-${randomUUID()}`;
  const named = { descriptor: { name: 'Nothing' } };
  const catalog = { id, ...named, provider: { id: 'p', ...named }, resources: [{ id: 'r', ...named }] };
  const directive = {
    catalogId: id,
    catalogType: 'REGULAR',
    updateMode: 'FULL',
    visibleTo: ['elsewhere.test/net'],
  };
  return { catalogs: [catalog], publishDirectives: [directive] };
}
