// One publisher sends more than the service can process: many catalogs per request, request after request.
const catalogsPerRequest = 2_000;

export async function attack({ catalogUrl, send, actions, keepDoing, underWay, pause }) {
  let sent = 0;
  const publish = async () => {
    const batch = sent++;
    const catalogs = Array.from({ length: catalogsPerRequest }, (_, index) => ({
      id: `flood-${batch}-${index}`,
      descriptor: { name: 'flood' },
      provider: { id: 'flood', descriptor: { name: 'flood' } },
      resources: [{ id: `r-${batch}-${index}` }],
    }));
    const { status } = await send(catalogUrl, actions.publish, { catalogs }, { side: 'bpp' });
    if (status !== 200) await pause(50);
  };
  underWay();
  await keepDoing(publish, { concurrency: 8, perSecond: 100 });
}
