// Filters of one identity that take as long as allowed, many at once.
import { costlyFilters } from '../costly-filters.mjs';

export async function attack({ discoveryUrl, send, actions, keepDoing, underWay }) {
  const intents = costlyFilters();
  const ask = () => send(discoveryUrl, actions.discover, { intent: intents.next().value });
  underWay();
  await keepDoing(ask, { concurrency: 32 });
}
