// Tools of attackers: a separate address, registered identities, right and wrong signatures, complete and incomplete bodies.
import { randomBytes, randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { Agent, request as ask, createServer } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { actions } from '../../dist/protocol/actions.js';
import { generateSeed, privateKeyFromSeed } from '../../dist/protocol/keys.js';
import { signRequest } from '../../dist/protocol/request-signature.js';

const host = '127.0.0.66';

export async function createAttackTools({ people }, signal) {
  setMaxListeners(0, signal);
  /** How often each status came back. */
  const counts = {};
  const count = (what) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const agent = new Agent({ keepAlive: true, localAddress: host });
  const answers = new Map();
  for (const { url } of [people.mallory, people.eve]) await acknowledgeAll(url, count, answers);

  /** Resolves with the status and the body of the answer; never throws. */
  function post(url, { body = Buffer.alloc(0), headers = {}, method = 'POST' }) {
    return new Promise((resolve) => {
      const all = { 'content-type': 'application/json', 'content-length': body.length, ...headers };
      const request = ask(url, { method, headers: all, agent, signal }, async (response) => {
        const chunks = await response.toArray().catch(() => []);
        count(response.statusCode);
        resolve({ status: response.statusCode, body: Buffer.concat(chunks) });
      });
      request.on('error', (error) => {
        if (!signal.aborted) count(error.code ?? error.name);
        resolve({ status: 0, body: Buffer.alloc(0) });
      });
      request.end(body);
    });
  }

  /** A signed request of a registered attacker. */
  async function send(to, action, message, { as = people.mallory, side = 'bap' } = {}) {
    return post(`${to}${action.path}`, signed(action, message, { as, side }));
  }

  function signed(action, message, { as = people.mallory, side = 'bap' } = {}) {
    const context = {
      ...{ version: '2.0.0', action: action.name, messageId: randomUUID(), transactionId: randomUUID() },
      ...{ timestamp: new Date().toISOString(), [`${side}Id`]: as.id, [`${side}Uri`]: as.url },
    };
    const body = Buffer.from(JSON.stringify({ context, message }));
    return { body, headers: { authorization: signRequest(keyOf(as), body, { now: new Date() }) } };
  }

  return {
    host,
    counts,
    count,
    post,
    send,
    signed,
    actions,
    /** Answers requests to an attacker's address, instead of acknowledging them. */
    answerAt: ({ url }, answer) => void answers.set(url, answer),
    /** Runs `concurrency` of them at once, until the attack is over; at most `perSecond` in total. */
    async keepDoing(work, { concurrency, perSecond = Number.POSITIVE_INFINITY }) {
      let next = performance.now();
      const one = async () => {
        while (!signal.aborted) {
          const due = Math.max(next, performance.now() - 1_000);
          next = due + 1000 / perSecond;
          if (due > performance.now()) await delay(due - performance.now());
          await work();
        }
      };
      await Promise.all(Array.from({ length: concurrency }, one));
    },
    /** A connection without any expected answer; it lives until the attack is over or the other side closes it. */
    open(url, firstBytes = '') {
      const { hostname, port } = new URL(url);
      return new Promise((resolve) => {
        const socket = connect({ host: hostname, port, localAddress: host });
        signal.addEventListener('abort', () => socket.destroy(), { once: true });
        socket.on('error', (error) => {
          count(error.code);
          resolve();
        });
        socket.once('connect', () => {
          count('connected');
          socket.write(firstBytes);
          resolve(socket);
        });
        socket.on('close', resolve);
        socket.once('data', (data) => count(`answered ${String(data).slice(9, 12)}`));
      });
    },
    untilStopped: () =>
      signal.aborted
        ? undefined
        : new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })),
    pause: (ms) => delay(ms, undefined, { signal }).catch(() => undefined),
  };
}

export function keyOf({ id, seed }, recordId = 'key-1') {
  return { subscriberId: id, recordId, privateKey: privateKeyFromSeed(seed) };
}

/** The header of a sender whose key the attacker lacks: well-formed, but not really signed. */
export function forgedAuthorization(subscriberId, { recordId = 'key-1', answering } = {}) {
  const key = { subscriberId, recordId, privateKey: forgersKey };
  return signRequest(key, randomBytes(16), { now: new Date(), answering });
}

const forgersKey = privateKeyFromSeed(generateSeed());

async function acknowledgeAll(url, count, answers) {
  const server = createServer(async (request, response) => {
    count('callback');
    const answer = answers.get(url);
    if (!answer) return request.resume().once('end', () => response.end('{"message":{"status":"ACK"}}'));
    const body = Buffer.concat(await request.toArray());
    response.end(JSON.stringify(await answer(request, body)));
  });
  await new Promise((resolve) => server.listen(new URL(url).port, host, resolve));
  server.unref();
}
