import type pg from 'pg';

// Tables of an idle network of many catalogs: everything is published, pushed, crawled and answered, and nothing is due for some minutes. A table
// that is not here has few rows, and says why. Rows are made for each n of the table `numbered`.

const heads = `json_build_object('id', 'c' || n, 'descriptor', json_build_object('name', repeat('x', 200)))`;
const soon = `now() + interval '5 minutes'`;
const inAnHour = `now() + interval '1 hour'`;
/** Spread over the last weeks, oldest first. */
const lately = `now() - ((select count(*) from numbered) - n) * interval '20 seconds'`;

const large: Record<string, string> = {
  'registry.participant': `(namespace, registry_name, subscriber_id, url) select 'p' || n, 'r', 'p' || n, 'https://p' || n from numbered`,
  'registry.signing_key': `(namespace, registry_name, record_id, public_key, state, ttl_seconds) select 'p' || n, 'r', 'key-1', '', 'live', 300 from numbered`,
  'registry.membership': `(namespace, registry_name, network_id) select 'p' || n, 'r', 'other.org/network' from numbered`,
  'registry.record_version': `(namespace, registry_name, record_id, subscriber_id, public_key, state, ttl_seconds, catalog_index_urls, network_memberships, created_at, version, recorded_at)
    select 'p' || n, 'r', 'key-1', 'p' || n, '', 'live', 300, '{}', '{}', now(), 1, ${lately} from numbered`,
  'catalog.subscription': `(id, owner, status, network_ids, schema_types, created_at, updated_at)
    select gen_random_uuid(), 'd' || n, 'ACTIVE', '{other.org/network}', '{}', now(), now() from numbered`,
  'catalog.lane': `(publisher) select 'p' || n from numbered`,
  'catalog.submission': `(publisher, message_id, accepted_at, context, digest, request_signature, callback_url, record_subscriber_id, done_at)
    select 'p' || n, n, ${lately}, '{}', '', '', '', '', ${lately} from numbered`,
  'catalog.submission_result': `(submission_id, position, catalog_id, result) select n, 0, 'c' || n, '{}' from numbered`,
  'catalog.catalog': `(id, owner, type, visible_to, version, full_version, members, head, is_active, resource_count, offer_count, schema_uses, schema_types, published_at, updated_at)
    select 'c' || n, 'p' || n, 'REGULAR', '{other.org/network}', 1, 1, ${heads}, ${heads}, true, 1, 1, '{}', '{}', now(), now() from numbered`,
  'catalog.resource': `(catalog_key, id, own, changed_version) select n, 'r', '{"id": "r"}', 1 from numbered`,
  'catalog.offer': `(catalog_key, id, own, changed_version) select n, 'o', '{"id": "o"}', 1 from numbered`,
  'catalog.inherited': `(catalog_key, master_key, master_resource_id, edition, bytes, uses, template) select n, n, 'm', 1, 2, 1, '{}' from numbered`,
  'catalog.change_log': `(seq, catalog_key, version, publisher, kind, at, details) select n, n, 1, 'p' || n, 'update', ${lately}, '{}' from numbered;
    update catalog.push_cursor set seq = (select count(*) from numbered)`,
  'catalog.push_lane': `(subscriber) select 'd' || n from numbered`,
  'catalog.push': `(subscriber, catalog_key, wanted_version, acknowledged_version, needs_full, state, sent_timestamp)
    select 'd1', n, 1, 1, false, 'acknowledged', now() from numbered`,
  'catalog.pull': `(owner, subscription_id, page_limit, page_offset, context, digest, request_signature, callback_url)
    select 'd' || n, gen_random_uuid(), 1, 0, '{}', '', '', '' from numbered`,
  'catalog.rebuild': `(master_key) select n from numbered`,
  'catalog.download': `(id, owner, expires_at, size_bytes, checksum) select gen_random_uuid(), 'd' || n, ${inAnHour}, 1, '' from numbered`,
  'catalog.download_piece': `(download_id, position, bytes) select id, 0, '' from catalog.download`,
  'discovery.catalog': `(key, source, owner, id, type, head, head_digest, provider_id, schema_uses, schema_types, is_active, updated_at, generation)
    select n, 'node', 'p' || n, 'c' || n, 'REGULAR', ${heads}, n, 'p', '{}', '{}', true, now(), 1 from numbered`,
  'discovery.resource': `(key, id, document, digest) select (n::bigint << 26) + 1, 'r' || n, '{}', n from numbered`,
  'discovery.offer': `(key, id, owner, provider_id, resource_ids, document, digest)
    select (n::bigint << 26) + (1 << 25), 'o' || n, 'p' || n, 'p', '{r}', '{}', n from numbered`,
  'discovery.offer_target': `(owner, resource_id, offer_key) select 'p' || n, 'r' || n, (n::bigint << 26) + (1 << 25) from numbered`,
  'index_1.word': `(word) select 'w' || n from numbered`,
  'index_1.deletion': `(hash, word_id) select n, n from numbered`,
  'index_1.object_path': `(digest) select gen_random_uuid() from numbered`,
  // One run per word; the last walk was long ago.
  'index_1.run': `(list, first, last, count, bytes)
    select -2 * n, key, key, 1, '\\x000100000001' || int8send(key) || '\\x01' from numbered, lateral (select (n::bigint << 26) + 1 as key) as keys`,
  'index_1.geometry': `(key, path_id, position, shape, box) select n::bigint << 26, 1, 0, '{}', cube(array[n, 0, 0, 1]) from numbered;
    insert into index_1.geometry_path (path) values ('$')`,
  'discovery.change': `(at) select now() from numbered`,
  'discovery.crawl_host': `(host, due_at) select 'h' || n, ${soon} from numbered`,
  // Their MASTER catalogs keep them in the crawl, though no network names them.
  'discovery.crawl_node': `(node, host_id, named, has_masters, due_at) select 'p' || n, n, false, true, ${soon} from numbered`,
  'discovery.crawl_index': `(node_id, host_id, url, due_at) select n, n, 'https://h' || n, ${soon} from numbered`,
  'discovery.crawl_entry': `(index_id, catalog_id, node_id, entry_version, is_master, digest, document) select n, 'c' || n, n, 1, true, '', '{}' from numbered`,
  'discovery.crawl_target': `(node_id, node, host_id, catalog_id, is_master, index_id) select n, 'p' || n, n, 'c' || n, true, n from numbered`,
  'discovery.crawl_extension': `(target_id, resource_id, own, directive, master_resource_id, master_key, master_version, edition)
    select n, 'r', '{}', '{}', 'm', n, 1, 1 from numbered`,
  'discovery.crawl_inherited': `(target_id, master_key, master_resource_id, edition, bytes, uses, template) select n, n, 'm', 1, 2, 1, '{}' from numbered`,
  'discovery.crawl_rebuild': `(master_key) select n from numbered`,
  'discovery.crawl_lost_master': `(key, owner, id) select n, 'p' || n, 'lost' || n from numbered`,
  'discovery.crawl_log': `(key, node, code, message, hint, first_at, at) select sha256(n::text::bytea), 'p' || n, '', '', '', ${lately}, ${lately} from numbered`,
  'discovery.crawl_stranger': `(node, asked_at) select 'p' || n, now() from numbered`,
  'work.request': `(key, role, identity, method, url, message_id, digest, status, body, expires, open)
    select sha256(n::text::bytea), 'catalog', 'p' || n, 'POST', '/', n, '', 200, '', ${inAnHour}, false from numbered`,
  'work.callback': `(role, action, message_id, destination, receiver, body, request_signature, give_up_at, state, settled_at)
    select 'catalog', 'on_publish', n, '', 'https://p' || n, '', '', now(), 'delivered', now() from numbered`,
  'work.sent_request': `(role, message_id, action, digest, signatures, expires) select 'discovery', n, 'pull', '', '{}', ${inAnHour} from numbered`,
  'work.taken_callback': `(role, message_id, signer, action, digest) select 'discovery', n, '', 'on_pull', '' from numbered`,
  'work.receiver_form': `(receiver, form, until) select 'p' || n, 'plain', ${inAnHour} from numbered`,
  'console.audit': `(at, operator, action, target, outcome) select ${lately}, '', '', '', '' from numbered`,
  'console.empty_search': `(key, intent, near_misses, first_at, at, times) select sha256(n::text::bytea), '{}', '{}', now(), now(), 1 from numbered`,
  // The minutes of several processes, for a week.
  'console.minute': `(at, process, numbers) select date_trunc('minute', now()) - n % 10000 * interval '1 minute', n / 10000, '{}' from numbered`,
};

/** Tables with few rows, even with many catalogs. */
export const small: Record<string, string> = {
  'console.operator': 'a row for each operator',
  'catalog.push_cursor': 'one row',
  'index_1.compaction': 'one row',
  'discovery.crawl_policy': 'one row',
  'discovery.generation': 'a row for each generation of the index',
  'discovery.external_index': 'one row',
  'discovery.external_change': 'catalogs that OpenSearch does not have yet; none without it',
  'discovery.presence': 'one row',
  'work.housekeeping': 'one row',
  'work.migration': 'a row for each migration',
  'work.unregistered_key': 'a row for each key of a running role',
  'discovery.crawl_source': 'a row for each configured network or node',
  'discovery.crawl_naming': 'large, but read only when a process starts or a network was enumerated',
  'discovery.feed': 'a row for each configured subscription',
  'discovery.listing': 'large, but read only when a catalog or the answer to a pull has come',
  'discovery.pull_answer': 'a row for each feed at most',
  'discovery.pulled_item': 'emptied after each pull',
  'discovery.unsettled': 'emptied in seconds',
  'index_1.geometry_path': 'a row for each path in schemas',
  'discovery.index_process': 'a row for each process',
};

export const largeTables = Object.keys(large);

/** Without triggers and foreign keys, which would take most of the time. */
export async function fillTables(client: pg.Client, catalogs: number): Promise<void> {
  await client.query('set session_replication_role = replica');
  await client.query(`create temporary table numbered as select n from generate_series(1, ${catalogs}) as n`);
  for (const [table, rows] of Object.entries(large)) await client.query(`insert into ${table} ${rows}`);
  await client.query('vacuum analyze');
}
