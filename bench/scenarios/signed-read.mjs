// A signed read (no durable write), like GET /catalog/subscription, compared with a bare Fastify route with the same cryptography.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Pool } from 'undici';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../../dist/protocol/keys.js';
import { signRequest } from '../../dist/protocol/request-signature.js';
import { ratePerSecond, sideBySide } from '../measure.mjs';
import { chooseSizes } from '../sizes.mjs';

const concurrency = 32;
const { seconds } = chooseSizes({ whole: { seconds: 3 }, miniature: { seconds: 0.05 } });

export async function run({ repeat }) {
  const privateKey = privateKeyFromSeed(generateSeed());
  const server = fork(new URL('../servers/signed-read.mjs', import.meta.url), [
    generateSeed(),
    publicKeyOf(privateKey),
  ]);
  const [{ ours, bare }] = await once(server, 'message');
  const key = { subscriberId: 'caller.example', recordId: 'key-1', privateKey };
  try {
    const result = await sideBySide({
      repeat,
      ours: () => rate(ours, key),
      yardstick: () => rate(bare, key),
    });
    return [
      {
        scenario: 'signed read',
        value: result.value,
        unit: 'requests/s',
        against: 'bare Fastify with the same cryptography',
        ratio: result.ratio,
      },
    ];
  } finally {
    server.disconnect();
  }
}

async function rate(port, key) {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: concurrency });
  // Signed once for all requests: the service evaluates every read again, and the caller's cost is not measured.
  const authorization = signRequest(key, Buffer.alloc(0), { now: new Date() });
  const read = async () => {
    const { statusCode, body } = await pool.request({
      method: 'GET',
      path: '/catalog/subscription',
      headers: { authorization },
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
  };
  try {
    return await ratePerSecond(read, { concurrency, seconds });
  } finally {
    await pool.close();
  }
}
