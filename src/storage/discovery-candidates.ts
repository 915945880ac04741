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
  /** What the lead does not say. */
  check?: DocumentCheck;
}

export interface CandidateOptions {
  limit: number;
  /** Where an earlier page ended; a lead of keys is cut into pages by whoever has the keys. */
  after?: Cursor;
}

/** The last candidate of a page, with its value where those give the order. */
export interface Cursor {
  key: number;
  value?: number;
}

/** The keys of the next candidates in the order of the lead; the cursor is undefined on the last page. */
export async function readCandidates(
  queryable: Queryable,
  query: CandidateQuery,
  options: CandidateOptions,
): Promise<{ keys: number[]; cursor?: Cursor }> {
  const { text, values } = candidateStatement(query, options, false);
  // One text of all keys: as rows, they would take longer to read than to find.
  const { rows } = await queryable.query<{ keys: string | null; value: number | null }>(
    `select string_agg(key::text, ',') as keys, (array_agg(value))[${options.limit}] as value from (${text}) as page`,
    values,
    { prepared: true },
  );
  const keys = rows[0]?.keys?.split(',').map(Number) ?? [];
  const last = keys.length < options.limit ? undefined : keys.at(-1);
  return { keys, ...(last !== undefined && { cursor: { key: last, value: rows[0]?.value ?? undefined } }) };
}

/** The same with their documents, JSON texts. */
export async function readCandidateDocuments(
  queryable: Queryable,
  query: CandidateQuery,
  options: CandidateOptions,
): Promise<{ candidates: { key: number; document: string }[]; cursor?: Cursor }> {
  const { text, values } = candidateStatement(query, options, true);
  const { rows } = await queryable.query<{ key: number; document: string; value: number | null }>(
    text,
    values,
    {
      prepared: true,
    },
  );
  const last = rows.length < options.limit ? undefined : rows.at(-1);
  return { candidates: rows, ...(last && { cursor: { key: last.key, value: last.value ?? undefined } }) };
}

/**
 * Starts from the lead, and looks up each candidate's row and catalog by their keys. The lateral queries with their `offset 0` keep
 * PostgreSQL from doing anything else: reading all catalogs first, say, because it takes the lead to be longer than it is.
 */
function candidateStatement(
  { lead, gate, check }: CandidateQuery,
  { limit, after }: CandidateOptions,
  documents: boolean,
): { text: string; values: unknown[] } {
  const parameters = createParameters();
  const { from, order, value = 'null::float8' } = leadClause(lead, parameters);
  const conditions = after ? [afterCondition(after, order, parameters)] : [];
  const steps = [];
  if (check || documents) {
    const passes = check ? ` and ${checkCondition(check, parameters)}` : '';
    steps.push(`cross join lateral (
      select document from discovery.resource where resource.key = lead.key${passes} offset 0) as resource`);
  }
  steps.push(`cross join lateral (
      select from discovery.catalog where catalog.key = lead.key >> 26 and ${searchedCondition('catalog', gate, parameters)}
      offset 0) as catalog`);
  return {
    text: `select lead.key, ${value} as value${documents ? ', resource.document::text as document' : ''}
      from ${from} ${steps.join('\n')}
      ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''}
      order by ${order} limit ${parameters.add(limit)}`,
    values: parameters.values,
  };
}

function afterCondition({ key, value }: Cursor, order: string, parameters: Parameters): string {
  const last = value === undefined ? [key] : [value, key];
  return `(${order}) > (${last.map((each) => parameters.add(each)).join(', ')})`;
}

interface LeadClause {
  from: string;
  order: string;
  value?: string;
}

function leadClause(lead: Lead, parameters: Parameters): LeadClause {
  switch (lead.kind) {
    case 'scan':
      return { from: 'discovery.resource as lead', order: 'lead.key' };
    case 'keys':
      // A catalog's own key is followed by those of its resources.
      return {
        from: `(select named.place, resource.key
          from unnest(${parameters.add(numberArray(lead.keys))}::bigint[]) with ordinality as named (key, place)
          cross join lateral (
            select key from discovery.resource
            where resource.key between named.key
              and case when named.key % ${keySpan} = 0 then named.key + ${maxResource} else named.key end
            offset 0) as resource) as lead`,
        order: 'lead.place, lead.key',
      };
    case 'numbers':
      if (lead.order === 'key')
        return { from: `(${keySelect(lead, parameters)}) as lead`, order: 'lead.key' };
      return {
        from: `(${numberSelect(lead, parameters)}) as lead`,
        order: 'lead.value, lead.key',
        value: 'lead.value',
      };
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

export function checkCondition(check: DocumentCheck, parameters: Parameters): string {
  switch (check.kind) {
    case 'and':
    case 'or':
      return `(${check.checks.map((each) => checkCondition(each, parameters)).join(` ${check.kind} `)})`;
    case 'contains':
      return `document @> ${parameters.add(check.json)}::jsonb`;
    case 'matches':
      return `coalesce(document @@ ${parameters.add(check.jsonpath)}::jsonpath, false)`;
    case 'has':
      return `coalesce(document @? ${parameters.add(check.jsonpath)}::jsonpath, false)`;
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
    { prepared: true },
  );
  return rows[0]?.counts ?? [];
}
