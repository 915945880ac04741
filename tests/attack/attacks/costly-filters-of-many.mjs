// Filters of twenty identities that take as long as allowed, several of each at once.
import { costlyFilters } from '../costly-filters.mjs';

export async function attack({ discoveryUrl, people, send, actions, keepDoing, underWay }) {
  underWay();
  await Promise.all(
    people.crowd.map((as) => {
      const intents = costlyFilters();
      return keepDoing(() => send(discoveryUrl, actions.discover, { intent: intents.next().value }, { as }), {
        concurrency: 2,
      });
    }),
  );
}
