import { numberArray } from './bulk.ts';
import type { Queryable } from './database.ts';
import { createParameters, type Gate, type Parameters, searchedCondition } from './discovery-gate.ts';

// Resources that an index proposes. A statement starts from one lead, the most selective one, in its order, and lets through what belongs to
// a searched catalog and passes the checks on its own document: so it can stop as soon as enough have been found, however many there are.

/** Where candidates come from, and in which order. */
export type Lead =
  /** Every resource, by key. */
  | { kind: 'scan' }
  /** Those with one of these facts, by key. */
  | { kind: 'facts'; hashes: readonly number[] }
  | NumberLead
  /** Several of the above, by key. */
  | { kind: 'any'; leads: readonly Lead[] }
  /** These, in this order; a catalog's own key stands for all its resources. */
  | { kind: 'keys'; keys: readonly number[] };

export interface NumberLead {
  kind: 'numbers';
  /** Hash of the path. */
  path: number;
  low?: Bound;
  high?: Bound;
  /** The order: by value can stop early, by key has to read them all. */
  order: 'value' | 'key';
}

export interface Bound {
  value: number;
  inclusive: boolean;
}

/** What a resource's document must satisfy. */
export type DocumentCheck =
  | { kind: 'and' | 'or'; checks: readonly DocumentCheck[] }
  /** It contains this JSON document. */
  | { kind: 'contains'; json: string }
  /** A predicate in PostgreSQL's jsonpath. */
  | { kind: 'matches' | 'has'; jsonpath: string };

export interface CandidateQuery {
  lead: Lead;
  gate: Gate;
  check?: DocumentCheck;
}

export interface Candidate {
  key: number;
  /** JSON text, where it was asked for. */
  document?: string;
}

export interface CandidateOptions {
  limit: number;
  /** Where an earlier page ended; a lead of keys is cut into pages by whoever has the keys. */
  after?: Cursor;
  documents?: boolean;
}

/** The last candidate of a page, with its value where those give the order. */
export interface Cursor {
  key: number;
  value?: number;
}

/** The next candidates in the order of the lead; the cursor is undefined on the last page. */
export async function readCandidates(
  queryable: Queryable,
  { lead, gate, check }: CandidateQuery,
  { limit, after, documents = false }: CandidateOptions,
): Promise<{ candidates: Candidate[]; cursor?: Cursor }> {
  const parameters = createParameters();
  const clause = leadClause(lead, parameters);
  // Facts and numbers know only the key of their resource: its row is read when something is asked of it.
  const needsRow = clause.resource !== undefined || check !== undefined || documents;
  const source = needsRow ? 'resource' : 'lead';
  const byValue = lead.kind === 'numbers' && lead.order === 'value';
  const conditions = [searchedCondition('catalog', gate, parameters)];
  if (check) conditions.push(checkCondition(check, parameters));
  if (after) conditions.push(afterCondition(after, clause.order, parameters));
  const { rows } = await queryable.query<Candidate & { value: number | null }>(
    `select ${source}.key, ${documents ? 'resource.document::text' : 'null'} as document, ${byValue ? 'lead.value' : 'null'} as value
     from ${clause.from}
     ${needsRow && clause.from !== scanned ? `join discovery.resource on ${clause.resource ?? 'resource.key = lead.key'}` : ''}
     join discovery.catalog on catalog.key = ${source}.key >> 26
     where ${conditions.join(' and ')}
     order by ${clause.order}
     limit ${Math.trunc(limit)}`,
    parameters.values,
  );
  const last = rows.length < limit ? undefined : rows.at(-1);
  return { candidates: rows, ...(last && { cursor: { key: last.key, value: last.value ?? undefined } }) };
}

function afterCondition({ key, value }: Cursor, order: string, parameters: Parameters): string {
  const last = value === undefined ? [key] : [value, key];
  return `(${order}) > (${last.map((each) => parameters.add(each)).join(', ')})`;
}

const scanned = 'discovery.resource';

interface LeadClause {
  from: string;
  /** How a resource is found from the lead; undefined: by its key alone. */
  resource?: string;
  order: string;
}

function leadClause(lead: Lead, parameters: Parameters): LeadClause {
  switch (lead.kind) {
    case 'scan':
      return { from: scanned, resource: 'true', order: 'resource.key' };
    case 'keys':
      return {
        from: `unnest(${parameters.add(numberArray(lead.keys))}::bigint[]) with ordinality as lead (key, place)`,
        resource: `resource.key between lead.key and case when lead.key % ${keySpan} = 0 then lead.key + ${maxResource} else lead.key end`,
        order: 'lead.place, resource.key',
      };
    case 'numbers':
      if (lead.order === 'value') {
        return { from: `(${numberSelect(lead, parameters)}) as lead`, order: 'lead.value, lead.key' };
      }
      return { from: `(${keySelect(lead, parameters)}) as lead`, order: 'lead.key' };
    default:
      return { from: `(${keySelect(lead, parameters)}) as lead`, order: 'lead.key' };
  }
}

const keySpan = 2 ** 26;
const maxResource = 2 ** 25 - 1;

/** Distinct keys; each part comes in their order, so that they can be merged without reading everything. */
function keySelect(lead: Lead, parameters: Parameters): string {
  const parts = keyParts(lead, parameters);
  if (parts.length === 1 && lead.kind === 'facts') return parts.join();
  return `select distinct key from (${parts.map((part) => `(${part})`).join(' union all ')}) as parts`;
}

function keyParts(lead: Lead, parameters: Parameters): string[] {
  switch (lead.kind) {
    case 'facts':
      // No fact is had by nobody.
      if (lead.hashes.length === 0) return ['select key from discovery.fact where false'];
      return lead.hashes.map(
        (hash) => `select key from discovery.fact where hash = ${parameters.add(hash)} order by key`,
      );
    case 'numbers':
      return [`select key from (${numberSelect(lead, parameters)}) as numbers order by key`];
    case 'any':
      return lead.leads.flatMap((each) => keyParts(each, parameters));
    default:
      throw new TypeError(`a lead of kind ${lead.kind} cannot be joined with others`);
  }
}

function numberSelect({ path, low, high }: NumberLead, parameters: Parameters): string {
  const conditions = [`path = ${parameters.add(path)}`];
  if (low) conditions.push(`value ${low.inclusive ? '>=' : '>'} ${parameters.add(low.value)}`);
  if (high) conditions.push(`value ${high.inclusive ? '<=' : '<'} ${parameters.add(high.value)}`);
  return `select value, key from discovery.number where ${conditions.join(' and ')}`;
}

function checkCondition(check: DocumentCheck, parameters: Parameters): string {
  switch (check.kind) {
    case 'and':
    case 'or':
      return `(${check.checks.map((each) => checkCondition(each, parameters)).join(` ${check.kind} `)})`;
    case 'contains':
      return `resource.document @> ${parameters.add(check.json)}::jsonb`;
    case 'matches':
      return `coalesce(resource.document @@ ${parameters.add(check.jsonpath)}::jsonpath, false)`;
    case 'has':
      return `coalesce(resource.document @? ${parameters.add(check.jsonpath)}::jsonpath, false)`;
  }
}

/** How many index entries each lead has, counted up to a limit; they belong to catalogs that are searched or not. */
export async function countLeads(
  queryable: Queryable,
  leads: readonly Lead[],
  limit: number,
): Promise<number[]> {
  const parameters = createParameters();
  const counts = leads.map((lead) => {
    const parts = keyParts(lead, parameters).map(
      (part) =>
        `(select count(*) from (${part.replace(/ order by key$/, '')} limit ${Math.trunc(limit)}) as counted)`,
    );
    return parts.join(' + ');
  });
  const { rows } = await queryable.query<{ counts: number[] }>(
    `select array[${counts.join(', ')}]::integer[] as counts`,
    parameters.values,
  );
  return rows[0]?.counts ?? [];
}
