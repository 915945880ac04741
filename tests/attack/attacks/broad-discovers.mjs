// Searches of one identity that find everything, without a page, as many as its rate allows: the largest possible answers.

export async function attack({ discoveryUrl, send, actions, keepDoing, underWay }) {
  const intents = [
    { textSearch: 'coffee' },
    { filters: { type: 'jsonpath', expression: '$.catalogs[*].resources[*]' } },
    { textSearch: Array.from({ length: 2_000 }, (_, index) => `cofee${index} roest arabca`).join(' ') },
  ];
  let asked = 0;
  const ask = () => send(discoveryUrl, actions.discover, { intent: intents[asked++ % intents.length] });
  underWay();
  await keepDoing(ask, { concurrency: 32, perSecond: 300 });
}
