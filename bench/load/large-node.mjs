// Crawls one node with very many catalogs, and as many catalogs spread over many nodes.
import { withCrawler } from '../support/crawled-network.mjs';

export async function* measureLargeNode({ catalogs, resources, nodes }) {
  const one = await firstCrawl({ nodes: 1, catalogs, resources });
  const many = await firstCrawl({ nodes, catalogs: catalogs / nodes, resources });
  const title = `first crawl of a node with ${catalogs.toLocaleString('en-US')} catalogs of ${resources} resources`;
  yield {
    scenario: title,
    value: one.rate,
    unit: 'catalogs/s',
    against: `as many of ${nodes} nodes (${Math.round(many.rate)})`,
    ratio: one.rate / many.rate,
  };
  yield { scenario: `${title}: most memory of the service`, value: one.peak / 1e6, unit: 'MB' };
}

async function firstCrawl(size) {
  return withCrawler(size, async ({ service, crawl }) => {
    const begin = performance.now();
    const { peak } = await service.watchMemory(crawl);
    return { rate: (size.nodes * size.catalogs * 1000) / (performance.now() - begin), peak };
  });
}
