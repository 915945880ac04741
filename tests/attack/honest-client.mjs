// A consumer that looks for coffee, and a provider that sells it: at most four requests at once, 20 a second, with real signatures and a server that
// verifies the signatures of callbacks. A request is timed from the moment when it was due, so a service that hangs does not get fewer requests.
import { createPublicKey, randomUUID } from 'node:crypto';
import { Agent, request as ask, createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { actions } from '../../dist/protocol/actions.js';
import { privateKeyFromSeed } from '../../dist/protocol/keys.js';
import { parseSignatureHeader, signRequest, verifySignature } from '../../dist/protocol/request-signature.js';
import { marketCatalogs, newCatalog, questions, smallChange } from './market.mjs';

const atOnce = 4;
const answerMs = 60_000;
const settleMs = 120_000;
/** Every fifth request goes to the catalog service. */
const catalogEvery = 5;
const freshConnections = new Agent({ keepAlive: false, localAddress: '127.0.0.1' });

export async function startHonestClient(people) {
  const shopper = await startParticipant(people.shopper, people.discovery);
  const roaster = await startParticipant(people.roaster, people.catalog);
  let count = 0;

  function next({ discoveryUrl, catalogUrl }) {
    count += 1;
    if (count % catalogEvery !== 0) {
      const message = { intent: questions[count % questions.length], limit: 20 };
      return () => shopper.send(discoveryUrl, actions.discover, message, 'bap');
    }
    if (count % (2 * catalogEvery) === 0)
      return () =>
        roaster.send(catalogUrl, actions.search, { filters: { type: 'REGULAR' }, limit: 5 }, 'bpp');
    return () => roaster.send(catalogUrl, actions.publish, { catalogs: [smallChange(count)] }, 'bpp');
  }

  return {
    /** Sends requests until `isEnough`, which gets the answers so far, returns true. */
    async ask(scene, perSecond, isEnough) {
      const samples = [];
      const underWay = new Set();
      const start = performance.now();
      for (let index = 0; !isEnough(samples); index += 1) {
        const due = start + (index * 1000) / perSecond;
        if (due > performance.now()) await delay(due - performance.now());
        while (underWay.size >= atOnce) await Promise.race(underWay);
        const sending = next(scene)().then((sample) => {
          samples.push({ ...sample, ms: performance.now() - due, at: performance.now() });
          underWay.delete(sending);
        });
        underWay.add(sending);
      }
      await Promise.all(underWay);
      return samples;
    },
    /** How long each of these callbacks took, including those that missed the limit. */
    async waitForCallbacks(samples, limitMs) {
      const promised = samples.filter(({ callback }) => callback);
      return Promise.all(
        promised.map(({ callback }) =>
          Promise.race([callback, delay(limitMs, Number.POSITIVE_INFINITY, { ref: false })]),
        ),
      );
    },
    /** Asks the same questions one after another; returns how long each took. */
    async askFixed({ discoveryUrl }, times) {
      const taken = [];
      for (let index = 0; index < times; index += 1) {
        const message = { intent: questions[index % questions.length], limit: 20 };
        const start = performance.now();
        const { status } = await shopper.send(discoveryUrl, actions.discover, message, 'bap');
        if (status !== 200) throw new Error(`a fixed search was answered ${status}`);
        taken.push(performance.now() - start);
      }
      return taken;
    },
    /** Whether a new publish is found within the time, after something else has happened. */
    async findsWhatItPublishes({ catalogUrl, discoveryUrl }, limitMs, meanwhile) {
      const { catalog, textSearch } = newCatalog();
      const published = await roaster.send(catalogUrl, actions.publish, { catalogs: [catalog] }, 'bpp');
      if (published.status !== 200) throw new Error(`a catalog was not accepted: ${published.status}`);
      await published.callback;
      await meanwhile();
      for (const end = Date.now() + limitMs; Date.now() < end; await delay(200)) {
        const { status } = await shopper.send(
          discoveryUrl,
          actions.discover,
          { intent: { textSearch } },
          'bap',
        );
        if (status === 200) return true;
      }
      return false;
    },
    async publishMarket({ catalogUrl, discoveryUrl }) {
      for (const catalog of marketCatalogs()) {
        const { status, callback } = await roaster.send(
          catalogUrl,
          actions.publish,
          { catalogs: [catalog] },
          'bpp',
        );
        if (status !== 200) throw new Error(`the market was not accepted: ${status}`);
        await callback;
      }
      for (const end = Date.now() + settleMs; ; await delay(200)) {
        const answers = [];
        for (const intent of questions)
          answers.push(await shopper.send(discoveryUrl, actions.discover, { intent, limit: 20 }, 'bap'));
        if (answers.every(({ status }) => status === 200)) return;
        if (Date.now() > end)
          throw new Error(`the market is not found: ${answers.map(({ status }) => status)}`);
      }
    },
    async close() {
      await Promise.all([shopper.close(), roaster.close()]);
    },
  };
}

async function startParticipant({ id, seed, url }, answeredBy) {
  const key = { subscriberId: id, recordId: 'key-1', privateKey: privateKeyFromSeed(seed) };
  const theirKey = createPublicKey(privateKeyFromSeed(answeredBy.seed));
  const waiting = new Map();
  const server = createServer(async (request, response) => {
    // A crawler that looks for a manifest.
    if (request.method === 'GET') return response.writeHead(404).end();
    const raw = await buffer(request);
    const header = parseSignatureHeader(request.headers.authorization);
    const { messageId } = JSON.parse(raw).context;
    const asked = waiting.get(messageId);
    const isGenuine = asked && verifies(() => verifySignature(header, theirKey, raw, asked.signature));
    response.writeHead(isGenuine || !asked ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ message: { status: 'ACK', messageId } }));
    if (!isGenuine) return;
    waiting.delete(messageId);
    asked.arrived(performance.now() - asked.at);
  });
  await new Promise((resolve) => server.listen(new URL(url).port, '127.0.0.1', resolve));
  const keptAlive = new Agent({ keepAlive: true, localAddress: '127.0.0.1' });
  let sent = 0;

  return {
    /** Never throws: without an answer, it resolves with the error as its status. */
    async send(to, action, message, side) {
      const messageId = randomUUID();
      const context = {
        ...{ version: '2.0.0', action: action.name, messageId, transactionId: randomUUID() },
        ...{ timestamp: new Date().toISOString(), [`${side}Id`]: id, [`${side}Uri`]: url },
      };
      const body = Buffer.from(JSON.stringify({ context, message }));
      const authorization = signRequest(key, body, { now: new Date() });
      const { signature } = parseSignatureHeader(authorization);
      const callback =
        action.callback &&
        new Promise((arrived) => waiting.set(messageId, { signature, arrived, at: performance.now() }));
      sent += 1;
      // Half of them use a new connection, like a first-time client.
      const agent = sent % 2 === 0 ? keptAlive : freshConnections;
      const { status, text } = await post(`${to}${action.path}`, { authorization, body, agent });
      if (status !== 200) waiting.delete(messageId);
      return { kind: action.name, status, text, callback: status === 200 ? callback : undefined };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      keptAlive.destroy();
    },
  };
}

function post(url, { authorization, body, agent }) {
  return new Promise((resolve) => {
    const headers = { authorization, 'content-type': 'application/json', 'content-length': body.length };
    const signal = AbortSignal.timeout(answerMs);
    const request = ask(url, { method: 'POST', headers, agent, signal }, async (response) => {
      const text = await buffer(response).then(String, String);
      resolve({ status: response.statusCode, text });
    });
    request.on('error', (error) => {
      // The server may have closed an idle connection at the moment of its reuse: clients that keep connections retry that once.
      if (request.reusedSocket && error.code === 'ECONNRESET')
        resolve(post(url, { authorization, body, agent: freshConnections }));
      else resolve({ status: error.code ?? error.name, text: String(error) });
    });
    request.end(body);
  });
}

function verifies(check) {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}
