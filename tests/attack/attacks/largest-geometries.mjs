// Searches with a MultiPolygon of 12,500 parts, and publishes with a polygon of 50,000 vertices, both the largest that are accepted, correctly signed.

export const leavesData = true;

export async function attack({ catalogUrl, discoveryUrl, send, actions, keepDoing, underWay, pause }) {
  const targets = '$.catalogs[*].provider.availableAt[*].geo';
  const intent = { spatial: [{ op: 'S_INTERSECTS', targets, geometry: manyParts(12_500) }] };
  let sent = 0;
  const publish = () => {
    const catalog = {
      id: `area-${sent++ % 4}`,
      descriptor: { name: 'area' },
      provider: { id: 'area', descriptor: { name: 'area' }, availableAt: [{ geo: circle(50_000, sent) }] },
      resources: [{ id: 'area' }],
    };
    return send(catalogUrl, actions.publish, { catalogs: [catalog] }, { side: 'bpp' });
  };
  await publish();
  underWay();
  await Promise.all([
    keepDoing(() => send(discoveryUrl, actions.discover, { intent }), { concurrency: 4, perSecond: 10 }),
    keepDoing(async () => ((await publish()).status === 200 ? undefined : pause(200)), {
      concurrency: 2,
      perSecond: 4,
    }),
  ]);
}

function manyParts(count) {
  const side = Math.ceil(Math.sqrt(count));
  const square = (index) => {
    const [x, y] = [60 + (index % side) * 0.2, -10 + Math.floor(index / side) * 0.2];
    const ring = [
      [0, 0],
      [0.1, 0],
      [0.1, 0.1],
      [0, 0.1],
      [0, 0],
    ];
    return [ring.map(([dx, dy]) => [round(x + dx), round(y + dy)])];
  };
  return { type: 'MultiPolygon', coordinates: Array.from({ length: count }, (_, index) => square(index)) };
}

/** Far from all other places. */
function circle(points, seed) {
  const at = (index) => {
    const angle = (2 * Math.PI * (index % points)) / points;
    return [round(-100 + (seed % 10) + 3 * Math.cos(angle)), round(40 + 3 * Math.sin(angle))];
  };
  return { type: 'Polygon', coordinates: [Array.from({ length: points + 1 }, (_, index) => at(index))] };
}

function round(degrees) {
  return Number(degrees.toFixed(6));
}
