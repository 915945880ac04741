// A stored polygon and a small search whose edges cross very often: a star that crosses itself, which is refused, and a comb that does not, crossed
// by another comb. Each polygon has some 25 kB, each search less than 5 kB.

export const leavesData = true;

export async function attack({ catalogUrl, discoveryUrl, send, actions, keepDoing, underWay, pause }) {
  const stored = { star: star(1_401), comb: comb(400, { isUpright: true }) };
  for (const [id, geo] of Object.entries(stored)) {
    const provider = { id, descriptor: { name: id }, availableAt: [{ geo }] };
    const catalog = { id, descriptor: { name: id }, provider, resources: [{ id }] };
    await send(catalogUrl, actions.publish, { catalogs: [catalog] }, { side: 'bpp' });
  }
  const targets = '$.catalogs[*].provider.availableAt[*].geo';
  const searches = [star(201), comb(50, { isUpright: false })].flatMap((geometry) => [
    { op: 'S_INTERSECTS', targets, geometry },
    { op: 'S_DWITHIN', targets, geometry, distanceMeters: 10 },
  ]);
  // Waits until both are indexed, unless they are refused.
  await pause(3_000);
  underWay();
  let asked = 0;
  const ask = () =>
    send(discoveryUrl, actions.discover, { intent: { spatial: [searches[asked++ % searches.length]] } });
  await keepDoing(ask, { concurrency: 4, perSecond: 10 });
}

/** Far from all other places. */
const [west, south] = [-100, 40];

/** Each edge crosses nearly all others. */
function star(points) {
  const step = (Math.PI * (points - 1)) / points;
  const ring = Array.from({ length: points }, (_, index) => [
    round(west + Math.cos(index * step)),
    round(south + Math.sin(index * step)),
  ]);
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] };
}

/** Teeth of one degree, upright or lying. */
function comb(teeth, { isUpright }) {
  const width = 1 / (2 * teeth);
  const outline = Array.from({ length: teeth }, (_, index) => {
    const [from, to] = [2 * index * width, (2 * index + 1) * width];
    return [
      [from, 0.01],
      [from, 1],
      [to, 1],
      [to, 0.01],
    ];
  }).flat();
  const ring = [...outline, [1, 0.01], [1, 0], [0, 0], outline[0]];
  const place = ([along, across]) =>
    isUpright ? [round(west + along), round(south + across)] : [round(west + across), round(south + along)];
  return { type: 'Polygon', coordinates: [ring.map(place)] };
}

function round(degrees) {
  return Number(degrees.toFixed(5));
}
