import { type OcpiObject, type OcpiServer, ocpiLocation, ocpiTariff } from './ocpi-server.ts';

// A charging operator as seen through its OCPI endpoint: statuses and tariffs change, stations and EVSEs come and go, the endpoint fails, and objects
// move between pages while these are read. Everything follows from a seed. A tick is a round of a sync.

export interface SimulatedOperator {
  /** Everything that may change in a round, once. */
  tick(): void;
  /** Each charger with the status and price that a consumer should find. */
  chargers(): string[];
}

const statuses = ['AVAILABLE', 'CHARGING', 'BLOCKED', 'OUTOFORDER', 'RESERVED'];
const tariffIds = ['T1', 'T2', 'T3', 'T4'];
/** How far a tick moves the operator's clock. */
const tickMs = 15_000;
/** Up to this many stations, every request may fail. */
const usualStations = 2_000;
/** Share of all stations that change in a tick. */
const shareOfChanges = 0.01;

export function simulateOperator(server: OcpiServer, stations: number, seed: number): SimulatedOperator {
  const random = createRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  let now = Date.parse('2026-02-01T00:00:00Z');
  let ticks = 0;
  let made = 0;
  const updated = () => new Date(now).toISOString();
  const evsesOf = (location: OcpiObject) => location.evses as { status: string; last_updated: string }[];

  function add(): void {
    made += 1;
    const [id, zone] = [`L${made}`, 10 + (made % 20)];
    const place = { postal_code: `${zone}115`, coordinates: { latitude: '48.8973', longitude: '9.1916' } };
    const options = { statuses: ['AVAILABLE', 'AVAILABLE'], tariff: pick(tariffIds), updated: updated() };
    server.locations.push(ocpiLocation(id, { ...options, ...place }));
  }
  /** In the order of their last update, like OCPI servers: the location moves to the last page. */
  function touch(location: OcpiObject): void {
    location.last_updated = updated();
    server.locations.push(...server.locations.splice(server.locations.indexOf(location), 1));
  }
  function changeStatus(): void {
    const location = pick(server.locations);
    const evse = pick(evsesOf(location));
    Object.assign(evse, { status: pick(statuses), last_updated: updated() });
    touch(location);
  }
  function shrink(): void {
    const location = pick(server.locations);
    location.evses = evsesOf(location).slice(0, 1);
    touch(location);
  }
  const goesAway = () => void server.locations.splice(Math.floor(random() * server.locations.length), 1);

  server.tariffs = tariffIds.map((id) => ocpiTariff(id, 0.5, updated()));
  for (let count = 0; count < stations; count += 1) add();

  // Reads of more stations have more pages: if each page failed as often, hardly any read would succeed.
  const shareOfRequests = Math.min(1, usualStations / stations);
  /** Short failures, failures of a whole round, and changes between two pages. */
  server.interfere = (request, response) => {
    const isLaterPage = /offset=[1-9]/.test(request.url ?? '');
    const chance = random() / shareOfRequests;
    if (isLaterPage && chance < 0.02) changeStatus();
    if (isLaterPage && chance > 0.07 && chance < 0.075) goesAway();
    if (chance > 0.04 && chance < 0.06) return Boolean(response.writeHead(503, { 'retry-after': '0' }).end());
    if (chance > 0.06 && chance < 0.07) return Boolean(response.writeHead(403).end());
    return false;
  };

  return {
    tick() {
      ticks += 1;
      now += tickMs;
      // Every fourth round finds nothing new.
      if (ticks % 4 === 0) return;
      for (let count = 0; count < stations * shareOfChanges; count += 1) changeStatus();
      if (ticks % 3 === 0) add();
      if (ticks % 5 === 0) goesAway();
      if (ticks % 7 === 0) shrink();
      if (ticks % 11 === 0) {
        const id = pick(tariffIds);
        const price = Math.round(random() * 100) / 100;
        server.tariffs = [...server.tariffs.filter((one) => one.id !== id), ocpiTariff(id, price, updated())];
      }
    },
    chargers() {
      const prices = new Map(server.tariffs.map((one) => [one.id, priceOf(one)]));
      return server.locations
        .flatMap((location) =>
          (location.evses as Evse[]).map(({ uid, status, connectors: [connector] }) =>
            [`DE*ABC*${uid}*1`, status, prices.get(connector?.tariff_ids[0] ?? '')].join(' '),
          ),
        )
        .sort();
    },
  };
}

interface Evse {
  uid: string;
  status: string;
  connectors: { tariff_ids: string[] }[];
}

function priceOf(tariff: OcpiObject): number {
  const [element] = tariff.elements as { price_components: { price: number }[] }[];
  return element?.price_components[0]?.price ?? 0;
}

/** mulberry32 */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
