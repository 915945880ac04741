// Writes the rows of a publish by plain SQL: the same documents in the same tables, with the same commits. One statement
// for all resources of a catalog, with arrays as the driver writes them.

/** A publish as texts and bytes, ready to be written. */
export function rowsOf({ node, request }) {
  const { context, message } = JSON.parse(request.body);
  const [{ resources: documents, ...head }] = message.catalogs;
  return {
    publisher: `plain ${node.id}`,
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
}

/** All publishers at once, each with one publish after another. */
export async function writeAll(database, all) {
  await Promise.all(
    [...new Set(all.map(({ publisher }) => publisher))].map(async (publisher) => {
      for (const rows of all.filter((one) => one.publisher === publisher)) await write(database, rows);
    }),
  );
}

const schema = 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld';

/** The commits of a publish: accept, claim, apply, settle; and of its callback: claim, settle. */
async function write(database, rows) {
  const { publisher, url, messageId, context, body, catalogId, head, ids, documents, callback } = rows;
  const { submissionId, requestId } = await database.transaction(async (tx) => {
    const request = await tx.query(
      `insert into work.request (key, role, identity, method, url, message_id, digest, status, body, expires, open)
       values (decode(md5($1), 'hex'), 'bench', $2, 'POST', '/catalog/publish', $1, 'digest', 200, 'ACK', now(), true)
       returning id`,
      [messageId, publisher],
    );
    await tx.query(
      `insert into catalog.lane as lane (publisher) values ($1) on conflict (publisher) do update set attempts = 0`,
      [publisher],
    );
    const submission = await tx.query(
      `insert into catalog.submission
         (publisher, record_subscriber_id, message_id, accepted_at, context, body, digest, request_signature, request_id, callback_url, done_at)
       values ($1, $1, $2, now(), $3, $4, 'digest', 'signature', $5, $6, null) returning id`,
      [publisher, messageId, context, body, request.rows[0].id, url],
    );
    return { submissionId: submission.rows[0].id, requestId: request.rows[0].id };
  });
  await database.query('update catalog.lane set lease_token = gen_random_uuid() where publisher = $1', [
    publisher,
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
      [catalogs[0].key, ids, documents],
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
  await database.query('update catalog.lane set lease_token = null where publisher = $1', [publisher]);
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

/** Adds `count` catalogs like this one, in the state after as many publishes. */
export async function seedCatalogs(database, { resources: documents, ...head }, count) {
  await database.query(
    `insert into catalog.catalog (id, owner, type, visible_to, version, full_version, members, head, is_active, resource_count,
       offer_count, schema_uses, schema_types, published_at, updated_at)
     select 'held-' || n, 'held.bench', 'REGULAR', array['nfh.global/beckn-nodes'], 1, 1, $1, $1, true, $2, 0, $3, $4, now(), now()
     from generate_series(1, $5) as n`,
    [JSON.stringify(head), documents.length, JSON.stringify({ [schema]: documents.length }), [schema], count],
  );
  await database.query(
    `insert into catalog.resource (catalog_key, changed_version, id, own)
     select key, 1, document.id, document.own::json
     from catalog.catalog, unnest($1::text[], $2::text[]) as document (id, own) order by key, document.id`,
    [documents.map(({ id }) => id), documents.map((document) => JSON.stringify(document))],
  );
  await database.query('analyze catalog.catalog, catalog.resource');
}
