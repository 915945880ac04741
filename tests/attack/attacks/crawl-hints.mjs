// Unsigned hints that nodes have changed: unknown names, and one that everybody knows.
import { randomUUID } from 'node:crypto';

export async function attack({ discoveryUrl, people, post, keepDoing, underWay }) {
  let sent = 0;
  const hint = () => {
    const nodeId = sent++ % 2 === 0 ? `${randomUUID()}.attack.test` : people.roaster.id;
    return post(`${discoveryUrl}/crawl-hints`, { body: Buffer.from(JSON.stringify({ nodeId })) });
  };
  underWay();
  await keepDoing(hint, { concurrency: 100, perSecond: 1_000 });
}
