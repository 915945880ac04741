import { arraysOf, bigintArray, textArray } from '../../storage/binary-arrays.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import { keyOf, lastNumbers } from '../keys.ts';
import type { ValidityRow } from './catalog-rows.ts';

// Writes the tables of resources and offers in bulk. The writer has read the digests before, and names only changed documents.

export type DocumentKind = 'resource' | 'offer';

export interface StoredDocument {
  key: number;
  catalog_key: number;
  id: string;
  digest: number;
}

/** The stored documents of these catalogs: all, or only those with one of the ids. */
export async function readDigests(
  queryable: Queryable,
  kind: DocumentKind,
  { whole, some }: { whole: readonly number[]; some: readonly { catalogKey: number; id: string }[] },
): Promise<StoredDocument[]> {
  if (whole.length + some.length === 0) return [];
  return queryable.rows(
    `select document.key, catalog_key, id, digest
     from unnest($1::bigint[]) as catalog (key)
     join discovery.${kind} as document on document.key > catalog.key << 26 and document.key < (catalog.key + 1) << 26
     union all
     select key, catalog_key, id, digest from discovery.${kind}
     where (id, catalog_key) in (select * from unnest($2::text[], $3::bigint[]))`,
    [bigintArray(whole), ...arraysOf(some, { id: textArray, catalogKey: bigintArray })],
  );
}

/** Parsed documents by key. */
export async function readDocuments(queryable: Queryable, kind: DocumentKind, keys: readonly number[]) {
  if (keys.length === 0) return new Map<number, object>();
  const rows = await queryable.rows<{ key: number; document: string }>(
    `select key, document::text as document from discovery.${kind} where key = any ($1::bigint[]) order by key`,
    [bigintArray(keys)],
    { prepared: true },
  );
  return new Map(rows.map(({ key, document }): [number, object] => [key, JSON.parse(document)]));
}

/** The number of resources and offers of each catalog, by key. */
export async function countDocuments(queryable: Queryable, catalogKeys: readonly number[]) {
  const counts = ['resource', 'offer'].map(
    (kind) =>
      `(select count(*) from discovery.${kind} as one where one.key > catalog.key << 26 and one.key < (catalog.key + 1) << 26) as ${kind}s`,
  );
  const rows = await queryable.rows<{ key: number; resources: number; offers: number }>(
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
}

export async function writeResources(tx: Transaction, rows: readonly ResourceRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `insert into discovery.resource (key, id, digest, document)
     select key, id, digest, document::jsonb
     from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[]) as incoming (key, id, digest, document)
     on conflict (key) do update set document = excluded.document, digest = excluded.digest`,
    arraysOf(rows, { key: bigintArray, id: textArray, digest: bigintArray, document: textArray }),
  );
}

export interface OfferRow extends ResourceRow, ValidityRow {
  owner: string;
  provider_id: string;
  /** Null: all resources of the provider. */
  resource_ids: readonly string[] | null;
}

/** Columns that change. */
const offerColumns = [
  ...['document', 'digest', 'provider_id', 'resource_ids'],
  ...['valid_from', 'valid_until', 'window_start', 'window_length'],
];

export async function writeOffers(tx: Transaction, rows: readonly OfferRow[]): Promise<void> {
  if (rows.length === 0) return;
  const keys = bigintArray(rows.map(({ key }) => key));
  await forgetTargets(tx, keys);
  await tx.query(
    `insert into discovery.offer (key, id, owner, ${offerColumns}) select key, id, owner, ${offerColumns}
     from json_populate_recordset(null::discovery.offer, $1::json)
     on conflict (key) do update set ${offerColumns.map((column) => `${column} = excluded.${column}`)}`,
    [writeRecords(rows)],
  );
  await addTargets(tx, keys);
}

/** Adds the resources that offers name, after the offers are written. */
export async function addTargets(tx: Transaction, keys: Buffer): Promise<void> {
  await tx.query(
    `insert into discovery.offer_target (owner, resource_id, offer_key)
     select distinct owner, resource_id, key from discovery.offer, unnest(resource_ids) as resource_id
     where key = any ($1::bigint[])`,
    [keys],
  );
}

/** An offer without resourceIds belongs to the provider that it names, or else to that of its catalog, which may have changed. */
export async function moveOffers(tx: Transaction, catalogKey: number, providerId: string): Promise<void> {
  await tx.query(
    `update discovery.offer set provider_id = $3
     where key between $1 and $2 and document #>> '{provider,id}' is null and provider_id <> $3`,
    [keyOf(catalogKey, 0), keyOf(catalogKey, lastNumbers.offer), providerId],
  );
}

export async function removeDocuments(tx: Transaction, kind: DocumentKind, keys: readonly number[]) {
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

/** A JSON array. The documents are already texts, and are not serialized again. */
function writeRecords(rows: readonly OfferRow[]): string {
  const records = rows.map(
    ({ document, ...row }) => `${JSON.stringify(row).slice(0, -1)},"document":${document}}`,
  );
  return `[${records.join(',')}]`;
}
