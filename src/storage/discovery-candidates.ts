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

/** The first keys in the order of the lead. */
export async function findCandidates(
  queryable: Queryable,
  query: CandidateQuery,
  limit: number,
): Promise<number[]> {
  const { text, values } = candidateStatement(query, ['key']);
  const { rows } = await queryable.query<{ key: number }>(`${text} limit ${Math.trunc(limit)}`, values);
  return rows.map(({ key }) => key);
}

/** All keys in the order of the lead, to be read batch by batch. */
export function keyStatement(query: CandidateQuery): [text: string, values: unknown[]] {
  const { text, values } = candidateStatement(query, ['key']);
  return [text, values];
}

/** The same with their documents. */
export function documentStatement(query: CandidateQuery): [text: string, values: unknown[]] {
  const { text, values } = candidateStatement(query, ['key', 'document::text as document']);
  return [text, values];
}

function candidateStatement(
  { lead, gate, check }: CandidateQuery,
  columns: readonly string[],
): { text: string; values: unknown[] } {
  const parameters = createParameters();
  const { from, resource, order } = leadClause(lead, parameters);
  // Facts and numbers know only the key of their resource: its row is read when something else is asked of it.
  const needsRow = resource !== undefined || check !== undefined || columns.length > 1;
  const source = needsRow ? 'resource' : 'lead';
  const text = `select ${columns.map((column) => `${source}.${column}`).join(', ')}
    from ${from}
    ${needsRow && from !== scanned ? `join discovery.resource on ${resource ?? 'resource.key = lead.key'}` : ''}
    join discovery.catalog on catalog.key = ${source}.key >> 26
    where ${searchedCondition('catalog', gate, parameters)}
      ${check ? `and ${checkCondition(check, parameters)}` : ''}
    order by ${order}`;
  return { text, values: parameters.values };
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
