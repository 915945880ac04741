// Unsigned requests, as fast as possible: for records of the registry, on which every service depends, and for the OpenAPI document.
import { randomUUID } from 'node:crypto';

export async function attack({ registryUrl, discoveryUrl, catalogUrl, post, keepDoing, underWay }) {
  const questions = [
    () => `${registryUrl}/dedi/lookup/${randomUUID()}.attack.test/subscribers.beckn.one/key-1`,
    () => `${registryUrl}/dedi/query/nfh.global/beckn-nodes?page_size=${1 + Math.floor(Math.random() * 100)}`,
    () => `${discoveryUrl}/openapi.json`,
    () => `${catalogUrl}/openapi.json`,
  ];
  let sent = 0;
  underWay();
  await keepDoing(() => post(questions[sent++ % questions.length](), { method: 'GET' }), {
    concurrency: 100,
    perSecond: 1_000,
  });
}
