// One publisher sends more requests than its rate allows, with one catalog each.

export async function attack({ catalogUrl, send, actions, keepDoing, underWay }) {
  let sent = 0;
  const publish = () => {
    const id = `small-${sent++}`;
    const catalog = {
      id,
      descriptor: { name: id },
      provider: { id: 'small', descriptor: { name: 'small' } },
    };
    return send(
      catalogUrl,
      actions.publish,
      { catalogs: [{ ...catalog, resources: [{ id }] }] },
      { side: 'bpp' },
    );
  };
  underWay();
  await keepDoing(publish, { concurrency: 32, perSecond: 400 });
}
