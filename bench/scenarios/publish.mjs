// Publishing catalogs of chargers, from the request to on_publish, against plain SQL that writes the same rows into the same tables with the
// same commits. And publishing into a service that already holds a million resources, against an empty one.
import { randomUUID } from 'node:crypto';
import { actions } from '../../dist/protocol/actions.js';
import { textArray } from '../../dist/storage/text-array.js';
import { sideBySide } from '../measure.mjs';
import { startService } from '../service.mjs';

const publishers = 4;
const publishesEach = 8;
const resourcesPerCatalog = 1_000;
const resources = publishers * publishesEach * resourcesPerCatalog;
const heldCatalogs = Number(process.env.BENCH_HELD_CATALOGS ?? 1_000);
/** The code that makes the difference is compiled by then. */
const warmUps = 3;

export async function run({ repeat }) {
  const empty = await startService();
  let full;
  try {
    const inEmpty = await start(empty);
    const first = await sideBySide({ repeat, ours: inEmpty.publish, yardstick: inEmpty.write });
    full = await startService({ prepare: seed });
    const inFull = await start(full);
    const second = await sideBySide({ repeat, ours: inFull.publish, yardstick: inEmpty.publish });
    const held = (heldCatalogs * resourcesPerCatalog).toLocaleString('en-US');
    return [
      row(`publish of ${resourcesPerCatalog} resources, to on_publish`, first, 'the same rows by plain SQL'),
      row(`the same into a service that holds ${held} resources`, second, 'into an empty one'),
    ];
  } finally {
    await empty.close();
    await full?.close();
  }
}

function row(scenario, { value, ratio }, against) {
  return { scenario, value, unit: 'resources/s', against, ratio };
}

/** Both ways to get catalogs into the database of a service, as rates. */
async function start(service) {
  const nodes = [];
  for (let n = 0; n < publishers; n += 1) nodes.push(await service.participant(`bpp-${n}`));
  const { ours, plain } = sides(nodes, service.database);
  for (let round = 0; round < warmUps; round += 1) await rate(ours);
  return { publish: () => rate(ours), write: () => rate(plain) };
}

export function sides(nodes, database) {
  return {
    ours: { prepare: () => nodes.flatMap(requestsOf), work: publishAll },
    plain: { prepare: () => nodes.flatMap(rowsOf), work: (all) => writeAll(database, all) },
  };
}

/** Resources per second; what is sent is made before. */
async function rate({ prepare, work }) {
  const prepared = prepare();
  const begin = performance.now();
  await work(prepared);
  return (resources * 1000) / (performance.now() - begin);
}

function requestsOf(node) {
  return Array.from({ length: publishesEach }, () => {
    const catalog = newCatalog();
    const publishDirectives = [{ catalogId: catalog.id, catalogType: 'REGULAR', updateMode: 'FULL' }];
    return {
      node,
      request: node.prepare(actions.publish, { catalogs: [catalog], publishDirectives }, 'bpp'),
    };
  });
}

/** All publishers at once, each waiting for the ACK before its next publish, and at the end for all results. */
async function publishAll(all) {
  const callbacks = [];
  await Promise.all(
    [...new Set(all.map(({ node }) => node))].map(async (node) => {
      for (const { request } of all.filter((one) => one.node === node)) {
        const { response, callback } = await node.post(request);
        await response.body.cancel();
        callbacks.push(callback);
      }
    }),
  );
  for (const { message } of await Promise.all(callbacks)) {
    if (message.results[0].status !== 'ACCEPTED') throw new Error(JSON.stringify(message));
  }
}

/** The same as texts and bytes, ready to be written. */
function rowsOf(node) {
  return requestsOf(node).map(({ request }) => {
    const { context, message } = JSON.parse(request.body);
    const [{ resources: documents, ...head }] = message.catalogs;
    return {
      publisher: node.id,
      url: node.url,
      messageId: context.messageId,
      context: JSON.stringify(context),
      body: request.body,
      catalogId: head.id,
      head: JSON.stringify(head),
      ids: documents.map(({ id }) => id),
      documents: documents.map((document) => JSON.stringify(document)),
      callback: Buffer.from(
        JSON.stringify({ context, message: { results: [{ catalogId: head.id, status: 'ACCEPTED' }] } }),
      ),
    };
  });
}

async function writeAll(database, all) {
  await Promise.all(
    [...new Set(all.map(({ publisher }) => publisher))].map(async (publisher) => {
      for (const rows of all.filter((one) => one.publisher === publisher)) await write(database, rows);
    }),
  );
}

/** The commits of a publish: accept, claim, apply, settle; and of its callback: claim, settle. */
async function write(database, rows) {
  const { publisher, url, messageId, context, body, catalogId, head, ids, documents, callback } = rows;
  const { submissionId, requestId } = await database.transaction(async (tx) => {
    const request = await tx.query(
      `insert into work.request (key, role, identity, method, url, action, message_id, digest, status, body, expires, open)
       values (decode(md5($1), 'hex'), 'bench', $2, 'POST', '/catalog/publish', 'catalog/publish', $1, 'digest', 200, 'ACK', now(), true)
       returning id`,
      [messageId, publisher],
    );
    await tx.query(
      `insert into catalog.lane as lane (publisher) values ($1) on conflict (publisher) do update set attempts = 0`,
      [`plain ${publisher}`],
    );
    const submission = await tx.query(
      `insert into catalog.submission
         (publisher, record_subscriber_id, message_id, accepted_at, context, body, digest, request_signature, request_id, callback_url, done_at)
       values ($1, $1, $2, now(), $3, $4, 'digest', 'signature', $5, $6, null) returning id`,
      [`plain ${publisher}`, messageId, context, body, request.rows[0].id, url],
    );
    return { submissionId: submission.rows[0].id, requestId: request.rows[0].id };
  });
  await database.query('update catalog.lane set lease_token = gen_random_uuid() where publisher = $1', [
    `plain ${publisher}`,
  ]);
  await database.transaction(async (tx) => {
    const { rows: catalogs } = await tx.query(
      `insert into catalog.catalog (id, owner, type, visible_to, version, full_version, members, head, is_active, resource_count,
         offer_count, schema_uses, schema_types, published_at, updated_at)
       values ($1, $2, 'REGULAR', array['nfh.global/beckn-nodes'], 1, 1, $3, $3, true, $4, 0, $5, $6, now(), now()) returning key`,
      [catalogId, publisher, head, ids.length, JSON.stringify({ [schema]: ids.length }), [schema]],
    );
    await tx.query(
      `insert into catalog.resource (catalog_key, changed_version, id, own)
       select $1, 1, id, own::json from unnest($2::text[], $3::text[]) as incoming (id, own)`,
      [catalogs[0].key, textArray(ids), textArray(documents)],
    );
    await tx.query(
      `insert into catalog.change_log (catalog_key, version, publisher, submission_id, kind, at, details)
       values ($1, 1, $2, $3, 'published in full', now(), '{}')`,
      [catalogs[0].key, publisher, submissionId],
    );
    await tx.query(
      `insert into catalog.submission_result (submission_id, position, catalog_id, result) values ($1, 0, $2, '{"status":"ACCEPTED"}')`,
      [submissionId, catalogId],
    );
    await tx.query('update catalog.submission set done_at = now(), body = null where id = $1', [
      submissionId,
    ]);
    await tx.query(
      `insert into work.callback
         (role, action, message_id, destination, receiver, body, request_signature, request_id, created_at, give_up_at, due_at)
       values ('bench', 'catalog/on_publish', $1, $2, $2, $3, 'signature', $4, now(), now(), now())`,
      [messageId, url, callback, requestId],
    );
  });
  await database.query('update catalog.lane set lease_token = null where publisher = $1', [
    `plain ${publisher}`,
  ]);
  await database.query('update work.callback set lease_token = gen_random_uuid() where request_id = $1', [
    requestId,
  ]);
  await database.transaction(async (tx) => {
    await tx.query(
      "update work.callback set state = 'delivered', due_at = null, body = '' where request_id = $1",
      [requestId],
    );
    await tx.query('update work.request set open = false where id = $1', [requestId]);
  });
}

const schema = 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld';

function newCatalog() {
  const id = `catalog-${randomUUID()}`;
  return {
    id,
    descriptor: { name: `Catalog ${id}` },
    provider: { id: 'p', descriptor: { name: 'Provider' } },
    resources: Array.from({ length: resourcesPerCatalog }, (_, n) => charger(`charger-${n}`, n)),
  };
}

/** About 700 bytes, with attributes that are checked. */
function charger(id, n) {
  const power = { value: 22 + (n % 300), unit: 'kW' };
  return {
    id,
    descriptor: {
      name: `Charger ${n}`,
      shortDesc: `Fast charging at bay ${n % 37}`,
      longDesc: `Open around the clock. ${randomUUID()} Parking is free while charging.`,
    },
    resourceAttributes: {
      '@context': schema,
      '@type': 'EnergyResourceEVCharger',
      id,
      type: 'EV_CHARGER',
      attributes: {
        connectorType: ['CCS2', 'Type2', 'CHAdeMO'][n % 3],
        controlProtocol: 'OCPP_2.0.1',
        serialNumber: randomUUID(),
        ratedPower: power,
        maxImport: power,
      },
    },
  };
}

/** A million resources, as they are after many publishes: so many catalogs of the usual size. */
async function seed(database) {
  const { resources: documents, ...head } = newCatalog();
  await database.query(
    `insert into catalog.catalog (id, owner, type, visible_to, version, full_version, members, head, is_active, resource_count,
       offer_count, schema_uses, schema_types, published_at, updated_at)
     select 'held-' || n, 'held.bench', 'REGULAR', array['nfh.global/beckn-nodes'], 1, 1, $1, $1, true, $2, 0, $3, $4, now(), now()
     from generate_series(1, $5) as n`,
    [
      JSON.stringify(head),
      documents.length,
      JSON.stringify({ [schema]: documents.length }),
      [schema],
      heldCatalogs,
    ],
  );
  await database.query(
    `insert into catalog.resource (catalog_key, changed_version, id, own)
     select key, 1, document.id, document.own::json
     from catalog.catalog, unnest($1::text[], $2::text[]) as document (id, own) order by key, document.id`,
    [
      textArray(documents.map(({ id }) => id)),
      textArray(documents.map((document) => JSON.stringify(document))),
    ],
  );
  await database.query('analyze catalog.catalog, catalog.resource');
}
