// Publishes of 5 MB with 400,000 members, correctly signed.

export const leavesData = true;

export async function attack({ catalogUrl, signed, post, actions, keepDoing, underWay, pause }) {
  let sent = 0;
  const publish = async () => {
    const attributes = Object.fromEntries(Array.from({ length: 400_000 }, (_, index) => [`m${index}`, 1]));
    const catalog = {
      id: `large-${sent++ % 4}`,
      descriptor: { name: 'large' },
      provider: { id: 'large', descriptor: { name: 'large' } },
      resources: [
        {
          id: 'large',
          resourceAttributes: {
            '@context': 'https://schema.example.org/L/v1/context.jsonld',
            '@type': 'L',
            ...attributes,
          },
        },
      ],
    };
    const request = signed(actions.publish, { catalogs: [catalog] }, { side: 'bpp' });
    const { status } = await post(`${catalogUrl}${actions.publish.path}`, request);
    if (status !== 200) await pause(200);
  };
  await publish();
  underWay();
  await keepDoing(publish, { concurrency: 2, perSecond: 4 });
}
