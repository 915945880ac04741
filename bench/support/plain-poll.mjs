// Conditional GETs in a few parallel lanes, and nothing else.
import { Agent } from 'undici';

/** As many as the crawler sends at a time. */
const atOnce = 64;

/** Like the crawler's, its connections outlive a poll. */
export function startBarePoll() {
  const agent = new Agent({ connections: 2, keepAliveTimeout: 10_000 });
  return {
    async poll(indexes) {
      let next = 0;
      const lane = async () => {
        for (let index = indexes[next++]; index !== undefined; index = indexes[next++]) {
          const { origin, pathname: path } = new URL(index.url);
          const headers = { 'if-none-match': index.etag };
          const { statusCode, body } = await agent.request({ origin, path, method: 'GET', headers });
          await body.dump();
          if (statusCode !== 304) throw new Error(`answered ${statusCode}`);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, lane));
    },
    close: () => agent.close(),
  };
}
