// The first sync of an operator with many stations, and one that finds nothing changed. And the time until a status that an operator reports is
// visible in the discovery service: by `signpost sync --watch` through a catalog service, and as signed files that a crawler polls every 30 s. The
// source is a file of OCPI locations; one station at a time changes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../../dist/protocol/keys.js';
import { registerParticipant } from '../../dist/storage/registry/participants.js';
import { freePort, startService } from '../service.mjs';
import { chooseSizes } from '../sizes.mjs';

const network = 'nfh.global/beckn-nodes';
const publisherId = 'operator.bench';
const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const lookAgainMs = 100;
/** The legal limit: Regulation (EU) 2025/655. */
const goalSeconds = 60;

const { many, stations, changes, syncSeconds, crawlSeconds, pauseMs } = chooseSizes({
  whole: { many: 50_000, stations: 500, changes: 40, syncSeconds: 15, crawlSeconds: 30, pauseMs: 4_700 },
  miniature: { many: 20, stations: 3, changes: 2, syncSeconds: 1, crawlSeconds: 1, pauseMs: 100 },
});

export async function run() {
  return [...(await firstSync(90)), ...(await firstSync(1)), ...(await statuses())];
}

/** Syncs into a directory that is not served. Each station has two EVSEs, each with a tariff. */
async function firstSync(regions) {
  const directory = mkdtempSync(join(tmpdir(), 'signpost-bench-sync-'));
  const [file, tariffs] = ['locations.json', 'tariffs.json'].map((name) => join(directory, name));
  const locations = Array.from({ length: many }, (_, index) => ({
    ...locationOf('BIG', index),
    postal_code: `${10 + (index % regions)}000`,
    evses: [1, 2].map((number) => evseOf('BIG', `${index}-${number}`, [`T${(index + number) % 50}`])),
  }));
  writeFileSync(file, JSON.stringify(locations));
  writeFileSync(tariffs, JSON.stringify(Array.from({ length: 50 }, (_, index) => tariffOf('BIG', index))));
  const env = {
    ...{ ...process.env, DATA_DIR: directory, PUBLISHER_ID: publisherId, REGISTRY_PORT: '1' },
    ...{ PUBLISHER_PRIVATE_KEY: generateSeed(), PUBLISHER_TRIGGER_PORT: String(await freePort()) },
  };
  const sync = () => runSync(['ocpi', file, '--tariffs', tariffs, '--yes'], { env, cwd: directory });
  try {
    const [first, again] = [await sync(), await sync()];
    const row = (scenario, value, unit, goal) => ({
      ...{ scenario, value, unit, against: `${goal} ${unit}`, ratio: value / goal },
    });
    return [
      row(`first sync of ${many} stations in ${regions} regions`, first.seconds, 's', 60),
      row(`memory of it, at most, ${regions} regions`, first.megabytes, 'MB', 500),
      row(`the same again, nothing changed, ${regions} regions`, again.seconds, 's', 5),
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function runSync(args, options) {
  const begin = performance.now();
  const child = spawn(process.execPath, [program, 'sync', ...args], {
    ...{ ...options, stdio: ['ignore', 'ignore', 'inherit'] },
  });
  let kilobytes = 0;
  const sampler = setInterval(() => {
    kilobytes = Math.max(kilobytes, highWaterMark(child.pid));
  }, lookAgainMs);
  const [code] = await once(child, 'exit');
  clearInterval(sampler);
  if (code !== 0) throw new Error(`the sync failed: ${code}`);
  return { seconds: (performance.now() - begin) / 1_000, megabytes: kilobytes / 1_000 };
}

/** 0 if the system does not report it, or the process has ended. */
function highWaterMark(pid) {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

async function statuses() {
  const directory = mkdtempSync(join(tmpdir(), 'signpost-bench-sync-'));
  const [port, triggerPort] = [await freePort(), await freePort()];
  const seed = generateSeed();
  const publisher = {
    DATA_DIR: directory,
    ...{ PUBLISHER_ID: publisherId, PUBLISHER_PRIVATE_KEY: seed },
    ...{ PUBLISHER_PORT: String(port), PUBLISHER_TRIGGER_PORT: String(triggerPort) },
  };
  const key = { recordId: 'key-1', publicKey: publicKeyOf(privateKeyFromSeed(seed)) };
  const service = await startService({
    settings: ({ catalogUrl }) => ({
      ...publisher,
      ROLES: 'registry,catalog,discovery,publisher',
      DISCOVERY_SUBSCRIPTIONS: JSON.stringify([{ catalogUrl, networkIds: [network] }]),
      DISCOVERY_NODES: JSON.stringify([publisherId]),
      CRAWL_INTERVAL_SECONDS: String(crawlSeconds),
      CRAWL_MIN_INTERVAL_SECONDS: String(crawlSeconds),
    }),
    prepare: (database) =>
      registerParticipant(database, {
        ...{ namespace: publisherId, registryName: 'subscribers.beckn.one', subscriberId: publisherId },
        ...{ url: `http://127.0.0.1:${port}`, networkIds: [network], key },
      }),
  });
  try {
    const { registry } = await service.identity('reader', generateSeed());
    const env = { ...process.env, ...publisher, REGISTRY_URL: registry, SYNC_SECONDS: String(syncSeconds) };
    const ways = [
      ['through a catalog service', 'SVC', ['--to', service.catalogUrl]],
      [`as signed files, crawled every ${crawlSeconds} s`, 'OWN', []],
    ];
    const measured = await Promise.all(
      ways.map(([, party, args]) => measure(service.database, { party, args, env, directory })),
    );
    return ways.flatMap(([way], index) =>
      [50, 99].map((percent) => {
        const value = percentile(measured[index], percent);
        return {
          scenario: `a status is in the discovery service, ${way}, p${percent} of ${changes}`,
          ...{ value, unit: 's', against: `${goalSeconds} s`, ratio: value / goalSeconds },
        };
      }),
    );
  } finally {
    await service.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** For each change, the seconds from the change of the file to the row in the discovery service. */
async function measure(database, { party, args, env, directory }) {
  const file = join(directory, party, 'locations.json');
  mkdirSync(join(directory, party));
  const locations = Array.from({ length: stations }, (_, index) => locationOf(party, index));
  const write = () => {
    writeFileSync(`${file}.part`, JSON.stringify(locations));
    renameSync(`${file}.part`, file);
  };
  write();
  const child = spawn(process.execPath, [program, 'sync', 'ocpi', file, '--watch', ...args], {
    ...{ env, cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] },
  });
  try {
    for (let index = 0; index < stations; index += 1) await seen(database, { party, index });
    const waiting = [];
    for (let change = 0; change < changes; change += 1) {
      const index = change % stations;
      const status = change % (2 * stations) < stations ? 'CHARGING' : 'AVAILABLE';
      locations[index].evses[0].status = status;
      locations[index].last_updated = new Date().toISOString();
      write();
      const begin = performance.now();
      waiting.push(seen(database, { party, index, status }).then(() => (performance.now() - begin) / 1_000));
      await delay(pauseMs * (0.5 + Math.random()));
    }
    return await Promise.all(waiting);
  } finally {
    child.kill();
    await once(child, 'exit');
  }
}

async function seen(database, { party, index, status = 'AVAILABLE' }) {
  const statement = `select from discovery.resource where id = $1
    and document #>> '{resourceAttributes,attributes,availability,status}' = $2`;
  while ((await database.query(statement, [`DE*${party}*L${index}-1*1`, status])).rowCount === 0)
    await delay(lookAgainMs);
}

function locationOf(party, index) {
  const last_updated = new Date().toISOString();
  return {
    ...{ country_code: 'DE', party_id: party, id: `L${index}`, publish: true, name: `Station ${index}` },
    ...{ address: 'Marktplatz 1', city: 'Ludwigsburg', postal_code: '71634', country: 'DEU' },
    ...{ coordinates: { latitude: '48.8973', longitude: '9.1916' }, operator: { name: 'Charging' } },
    ...{ time_zone: 'Europe/Berlin', last_updated },
    evses: [evseOf(party, `${index}-1`)],
  };
}

function evseOf(party, id, tariff_ids = []) {
  const last_updated = new Date().toISOString();
  const connector = { id: '1', standard: 'IEC_62196_T2_COMBO', format: 'CABLE', power_type: 'DC' };
  const power = { max_voltage: 920, max_amperage: 200, max_electric_power: 150_000 };
  return {
    ...{ uid: `L${id}`, evse_id: `DE*${party}*E${id}`, status: 'AVAILABLE', last_updated },
    connectors: [{ ...connector, ...power, tariff_ids, last_updated }],
  };
}

function tariffOf(party, index) {
  const price_components = [{ type: 'ENERGY', price: 0.4 + index / 100, vat: 19, step_size: 1 }];
  return {
    ...{ country_code: 'DE', party_id: party, id: `T${index}`, currency: 'EUR', type: 'AD_HOC_PAYMENT' },
    ...{ elements: [{ price_components }], last_updated: new Date().toISOString() },
  };
}

function percentile(values, percent) {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil((sorted.length * percent) / 100) - 1)];
}
