// A participant that uses the client package: calls the requested methods, reports their results, and receives their callbacks.
import { Signpost, SignpostError } from '../../../packages/client/dist/index.js';

const maxItems = 1_000;

/** All addresses in bad input lead to this machine. */
const fetchHere = async (url, options) => {
  if (!/^(127\.\d+\.\d+\.\d+|localhost)$/.test(new URL(url).hostname)) throw new TypeError('fetch failed');
  return fetch(url, options);
};

const signpost = new Signpost({
  ...JSON.parse(process.env.CLIENT_OPTIONS),
  fetch: fetchHere,
  allowPrivateAddresses: true, // so that downloads also use it
  onMessage: () => undefined,
});
await signpost.listen();
process.on('message', async ({ question, method, args }) => {
  if (question !== undefined) process.send({ question, answer: await call(method, args) });
});
process.on('SIGTERM', () => signpost.close().then(() => process.exit()));
// Runs until it is stopped, or the suite is gone.
process.channel.ref();
process.send('ready');

async function call(method, args) {
  try {
    const result = signpost[method](...args);
    if (result[Symbol.asyncIterator]) {
      let count = 0;
      for await (const _item of result) {
        count += 1;
        if (count === maxItems) break;
      }
    } else await result;
    return { kind: 'done' };
  } catch (error) {
    if (error instanceof SignpostError) return { kind: 'refused', code: error.code, message: error.message };
    return { kind: 'unexpected', stack: error?.stack ?? String(error) };
  }
}
