// Searches and publishes of a receiver whose name server never answers: each of their callbacks needs its address.

export async function attack({ catalogUrl, discoveryUrl, people, send, actions, keepDoing, underWay }) {
  const as = people.sloth;
  let sent = 0;
  const search = () =>
    send(discoveryUrl, actions.discover, { intent: { textSearch: 'coffee' }, limit: 1 }, { as });
  const publish = () => {
    const id = `slow-${sent++ % 4}`;
    const provider = { id: 'slow', descriptor: { name: 'slow' } };
    const catalog = { id, descriptor: { name: id }, provider, resources: [{ id: `${id}-${sent}` }] };
    return send(catalogUrl, actions.publish, { catalogs: [catalog] }, { as, side: 'bpp' });
  };
  await Promise.all([search(), publish()]);
  underWay();
  await Promise.all([
    keepDoing(search, { concurrency: 8, perSecond: 50 }),
    keepDoing(publish, { concurrency: 2, perSecond: 5 }),
  ]);
}
