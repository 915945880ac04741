// Catalogs whose offers apply to every resource of the provider.

export async function publishOffers(tools, { resources, offers, word = 'o' }) {
  const { send, actions, catalogUrl, discoveryUrl, pause, signal } = tools;
  const catalog = {
    id: 'wide',
    descriptor: { name: 'wide' },
    provider: { id: 'wide', descriptor: { name: 'wide' } },
    resources: Array.from({ length: resources }, (_, index) => ({ id: `w${index}` })),
    offers: Array.from({ length: offers }, (_, index) => ({
      id: `o${index}`,
      descriptor: { name: `${word} ${index}` },
    })),
  };
  const { status, body } = await send(catalogUrl, actions.publish, { catalogs: [catalog] }, { side: 'bpp' });
  if (status !== 200) throw new Error(`the catalog was not accepted: ${status} ${body}`);
  const first = { filters: { type: 'jsonpath', expression: "$.catalogs[*].resources[?@.id == 'w0']" } };
  while (!signal.aborted) {
    const found = await send(discoveryUrl, actions.discover, { intent: first, limit: 1 });
    if (found.status === 200) return;
    await pause(500);
  }
}

/** All possible questions about the offers, one after another. */
export async function searchOffers({ send, actions, discoveryUrl, keepDoing }) {
  const intents = [
    { filters: { type: 'jsonpath', expression: "$.catalogs[*].offers[?@.descriptor.name == 'o 7']" } },
    { filters: { type: 'jsonpath', expression: "$.catalogs[*].offers[?@.id != 'o7']" } },
    { textSearch: 'offer' },
    {
      filters: {
        type: 'jsonpath',
        expression: '$.catalogs[*].resources[?count($.catalogs[*].offers[*]) > 1]',
      },
    },
  ];
  let asked = 0;
  const ask = () => send(discoveryUrl, actions.discover, { intent: intents[asked++ % intents.length] });
  await keepDoing(ask, { concurrency: 2 });
}
