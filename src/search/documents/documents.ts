import { bigintArray, bytesArray, textArray } from '../../storage/binary-arrays.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import { bytesText, type ValidityRow } from './catalogs.ts';
import { keyOf, lastNumbers } from './keys.ts';

// The tables of resources and offers, written in bulk. The writer has read the digests before, and names only documents that changed.

export type DocumentKind = 'resource' | 'offer';

export interface StoredDocument {
  key: number;
  catalog_key: number;
  id: string;
  digest: number;
}

/** What is stored of these catalogs: everything, or only what has one of the ids. */
export async function readDigests(
  queryable: Queryable,
  kind: DocumentKind,
  { whole, some }: { whole: readonly number[]; some: readonly { catalogKey: number; id: string }[] },
): Promise<StoredDocument[]> {
  if (whole.length + some.length === 0) return [];
  const { rows } = await queryable.query<StoredDocument>(
    `select document.key, catalog_key, id, digest
     from unnest($1::bigint[]) as catalog (key)
     join discovery.${kind} as document on document.key > catalog.key << 26 and document.key < (catalog.key + 1) << 26
     union all
     select key, catalog_key, id, digest from discovery.${kind}
     where (id, catalog_key) in (select * from unnest($2::text[], $3::bigint[]))`,
    [bigintArray(whole), some.map(({ id }) => id), bigintArray(some.map(({ catalogKey }) => catalogKey))],
  );
  return rows;
}

/** A document with what is stored of its entries (write/stored-entries.ts). */
export interface IndexedDocument {
  key: number;
  /** JSON text. */
  document: string;
  words: Buffer | null;
  /** Whether it is a standing offer, and its words are in the lists of those. */
  isStanding: boolean;
}

/** By key. */
export async function readDocuments(
  queryable: Queryable,
  kind: DocumentKind,
  keys: readonly number[],
): Promise<Map<number, IndexedDocument>> {
  if (keys.length === 0) return new Map();
  const { rows } = await queryable.query<IndexedDocument>(
    `select ${indexedColumns(kind)} from discovery.${kind} where key = any ($1::bigint[])`,
    [bigintArray(keys)],
    { prepared: true },
  );
  return new Map(rows.map((row) => [row.key, row]));
}

export function indexedColumns(kind: DocumentKind): string {
  return `key, document::text as document, words, ${kind === 'resource' ? 'false' : 'is_standing'} as "isStanding"`;
}

/** How many resources and offers catalogs have, by their keys. */
export async function countDocuments(
  queryable: Queryable,
  catalogKeys: readonly number[],
): Promise<Map<number, { resources: number; offers: number }>> {
  const counts = ['resource', 'offer'].map(
    (kind) =>
      `(select count(*) from discovery.${kind} as one where one.key > catalog.key << 26 and one.key < (catalog.key + 1) << 26) as ${kind}s`,
  );
  const { rows } = await queryable.query<{ key: number; resources: number; offers: number }>(
    `select key, ${counts.join(', ')} from unnest($1::bigint[]) as catalog (key)`,
    [bigintArray(catalogKeys)],
  );
  return new Map(rows.map(({ key, ...counted }) => [key, counted]));
}

export interface ResourceRow {
  key: number;
  id: string;
  digest: number;
  /** JSON text. */
  document: string;
  /** text/dictionary.ts */
  words: Buffer;
}

export async function writeResources(tx: Transaction, rows: readonly ResourceRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `insert into discovery.resource (key, id, digest, document, words)
     select key, id, digest, document::jsonb, words
     from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::bytea[])
       as incoming (key, id, digest, document, words)
     on conflict (key) do update
     set document = excluded.document, digest = excluded.digest, words = excluded.words`,
    [
      bigintArray(rows.map(({ key }) => key)),
      textArray(rows.map(({ id }) => id)),
      bigintArray(rows.map(({ digest }) => digest)),
      textArray(rows.map(({ document }) => document)),
      bytesArray(rows.map(({ words }) => words)),
    ],
  );
}

export interface OfferRow extends ResourceRow, ValidityRow {
  owner: string;
  provider_id: string;
  /** Null: all resources of the provider. */
  resource_ids: readonly string[] | null;
  /** Whether its words are in the lists of standing offers. */
  isStanding: boolean;
}

export async function writeOffers(tx: Transaction, rows: readonly OfferRow[]): Promise<void> {
  if (rows.length === 0) return;
  const keys = bigintArray(rows.map(({ key }) => key));
  await forgetTargets(tx, keys);
  await tx.query(
    `insert into discovery.offer
       (key, id, digest, document, owner, provider_id, resource_ids, valid_from, valid_until, window_start, window_length, words, is_standing)
     select key, id, digest, document, owner, provider_id, resource_ids, valid_from, valid_until, window_start, window_length, words, "isStanding"
     from json_to_recordset($1::json) as incoming (
       key bigint, id text, digest bigint, document jsonb, owner text, provider_id text, resource_ids text[],
       valid_from timestamptz, valid_until timestamptz, window_start integer, window_length integer, words bytea, "isStanding" boolean)
     on conflict (key) do update
     set words = excluded.words, is_standing = excluded.is_standing, document = excluded.document, digest = excluded.digest, provider_id = excluded.provider_id, resource_ids = excluded.resource_ids,
       valid_from = excluded.valid_from, valid_until = excluded.valid_until, window_start = excluded.window_start,
       window_length = excluded.window_length`,
    [writeRecords(rows)],
  );
  await addTargets(tx, keys);
}

/** What offers name, once they are written. */
export async function addTargets(tx: Transaction, keys: Buffer): Promise<void> {
  await tx.query(
    `insert into discovery.offer_target (owner, resource_id, offer_key)
     select distinct owner, resource_id, key from discovery.offer, unnest(resource_ids) as resource_id
     where key = any ($1::bigint[])`,
    [keys],
  );
}

/** An offer without resourceIds belongs to the provider that it names, else to the one of its catalog: which may have changed. */
export async function moveOffers(tx: Transaction, catalogKey: number, providerId: string): Promise<void> {
  await tx.query(
    `update discovery.offer set provider_id = $3
     where key between $1 and $2 and document #>> '{provider,id}' is null and provider_id <> $3`,
    [keyOf(catalogKey, 0), keyOf(catalogKey, lastNumbers.offer), providerId],
  );
}

export async function removeDocuments(
  tx: Transaction,
  kind: DocumentKind,
  keys: readonly number[],
): Promise<void> {
  if (keys.length === 0) return;
  if (kind === 'offer') await forgetTargets(tx, bigintArray(keys));
  await tx.query(`delete from discovery.${kind} where key = any ($1::bigint[])`, [bigintArray(keys)]);
}

export async function forgetTargets(tx: Transaction, keys: Buffer): Promise<void> {
  await tx.query(
    `delete from discovery.offer_target
     where (owner, resource_id, offer_key) in (
       select owner, resource_id, key from discovery.offer, unnest(resource_ids) as resource_id where key = any ($1::bigint[])
     )`,
    [keys],
  );
}

/** A JSON array in which the documents, texts already, are not rendered again. */
function writeRecords(rows: readonly OfferRow[]): string {
  const records = rows.map(
    ({ document, words, ...row }) =>
      `${JSON.stringify({ ...row, words: bytesText(words) }).slice(0, -1)},"document":${document}}`,
  );
  return `[${records.join(',')}]`;
}
