// Fingerprints of documents that are compared across databases. PostgreSQL writes equal jsonb values as equal texts.

/** The SQL of a number of 60 bits for a document. */
export function digestOf(id: string, document: string): string {
  return `('x' || substr(md5(${id} || ' ' || ${document}::jsonb::text), 1, 15))::bit(60)::bigint`;
}

/** The SQL of a text that is the same for the same documents in any order: their count and the sum of their digests. `documents` is a query for `id` and `document`. */
export function fingerprintOf(documents: string): string {
  return `(select count(*) || ':' || coalesce(sum(${digestOf('id', 'document')}), 0) from (${documents}) as documents)`;
}

/** The digest of each document of a catalog, by kind and id. */
export type DocumentDigests = Map<string, string>;

export function toDigests(rows: readonly { kind: string; id: string; digest: string }[]): DocumentDigests {
  return new Map(rows.map(({ kind, id, digest }) => [`${kind} ${id}`, digest]));
}
