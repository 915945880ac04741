import { bigintArray } from '../../storage/binary-arrays.ts';
import { Parameters } from '../../storage/parameters.ts';
import type { IndexReader } from '../cache/caches.ts';
import { inBatches, lastNumbers, span } from '../documents/keys.ts';
import { expandMembers, hasCatalogs } from '../documents/members.ts';

// Checks candidates on their documents, by a predicate in PostgreSQL's jsonpath. A head stands for all resources of its catalog.

/** What a resource's document must satisfy: predicates in PostgreSQL's jsonpath, one for each of its modes. */
export interface DocumentCheck {
  strict?: string;
  lax?: string;
}

interface CandidateQuery<K extends ArrayLike<number> = ArrayLike<number>> {
  /** In the order of the answer. */
  keys: K;
  check?: DocumentCheck;
}

/** The resources that pass, in the order in which they were named, none twice: the first so many of them. */
export async function readPassing<K extends ArrayLike<number>>(
  reader: IndexReader,
  { keys, check }: CandidateQuery<K>,
  atMost = Number.MAX_SAFE_INTEGER,
): Promise<K | number[]> {
  if (check === undefined || keys.length === 0) return expandMembers(reader, keys, atMost);
  if (keys.length < manyToCheck) return selectPassing(reader, { keys, check }, atMost);
  const halves = [...inBatches(keys, Math.ceil(keys.length / 2))];
  const passing = await Promise.all(
    halves.map((half) => selectPassing(reader, { keys: half, check }, atMost)),
  );
  return [...new Set(passing.flat())].slice(0, atMost);
}

/** So many are checked by two statements at the same time: it takes PostgreSQL some microseconds to find each of them. */
const manyToCheck = 300;

async function selectPassing(reader: IndexReader, query: CandidateQuery, atMost: number): Promise<number[]> {
  const parameters = new Parameters();
  const { rows } = await reader.query<{ keys: string | null }>(
    `select array_to_json(array_agg(key order by ordinal, key))::text as keys from (
       select key, ordinal from (${selectPassingKeys(query, parameters)}) as passing order by ordinal, key limit ${parameters.add(atMost)}
     ) as first`,
    parameters.values,
    { prepared: true },
  );
  return JSON.parse(rows[0]?.keys ?? '[]');
}

/** The same with their documents, JSON texts. */
export async function readPassingDocuments(
  reader: IndexReader,
  query: CandidateQuery,
): Promise<{ key: number; document: string }[]> {
  if (query.keys.length === 0) return [];
  const parameters = new Parameters();
  const { rows } = await reader.query<{ key: number; document: string }>(
    `select key, document::text as document
     from (${selectPassingKeys(query, parameters)}) as passing join discovery.resource using (key)
     order by ordinal, key`,
    parameters.values,
    { prepared: true },
  );
  return rows;
}

/**
 * Selects the keys that pass, with their ordinals. The lateral queries with their `offset 0` keep PostgreSQL from doing anything but looking up
 * each candidate by its key: reading all resources first, say, because it takes the candidates to be more than they are.
 */
function selectPassingKeys({ keys, check }: CandidateQuery, parameters: Parameters): string {
  const named = `unnest(${parameters.add(bigintArray(keys))}::bigint[]) with ordinality as named (key, ordinal)`;
  const conditions = check ? ` and ${checkCondition(check, parameters)}` : '';
  if (hasCatalogs(keys)) {
    // A resource of a catalog that is named may be named by itself, too.
    return `select resource.key, min(ordinal) as ordinal from ${named}
      cross join lateral (
        select key from discovery.resource
        where resource.key between named.key
          and named.key + case when named.key % ${span} = 0 then ${lastNumbers.resource} else 0 end ${conditions}
        offset 0) as resource
      group by resource.key`;
  }
  return `select named.key, ordinal from ${named}
    cross join lateral (select from discovery.resource where resource.key = named.key ${conditions} offset 0) as resource`;
}

/** Neither holds where the document lacks what it asks for. */
export function checkCondition({ strict, lax }: DocumentCheck, parameters: Parameters): string {
  const strictly = `${parameters.add(strict ?? null)}::jsonpath`;
  const laxly = `${parameters.add(lax ?? null)}::jsonpath`;
  return `(${strictly} is null or document @@ ${strictly}) and (${laxly} is null or document @@ ${laxly})`;
}
