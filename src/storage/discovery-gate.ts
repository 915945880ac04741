// Which catalogs a search looks at, and which offers count, as conditions in SQL (rules/discover/served.ts says the same of values).

/** What a search is narrowed to. */
export interface Gate {
  now: Date;
  networkId?: string;
  /** Schema context URIs, one of which the catalog must use; none means all. */
  schemaContext: readonly string[];
}

/** The parameters of a statement: each value is named once, by its place. */
export interface Parameters {
  values: unknown[];
  add(value: unknown): string;
}

export function createParameters(): Parameters {
  const values: unknown[] = [];
  return { values, add: (value) => `$${values.push(value)}` };
}

/** The catalog `alias` counts in this network, now: no template, active, within its validity, not hidden. */
export function servedCondition(alias: string, { now, networkId }: Gate, parameters: Parameters): string {
  const conditions = [
    `${alias}.type = 'REGULAR' and ${alias}.is_active and ${alias}.served`,
    validCondition(alias, now, parameters),
  ];
  if (networkId !== undefined) {
    const network = parameters.add(networkId);
    conditions.push(`(${alias}.networks = '{}' or ${network} = any (${alias}.networks))`);
  }
  return conditions.join(' and ');
}

/** And it is among what is searched. */
export function searchedCondition(alias: string, gate: Gate, parameters: Parameters): string {
  const served = servedCondition(alias, gate, parameters);
  if (gate.schemaContext.length === 0) return served;
  return `${served} and ${alias}.schema_types && ${parameters.add(gate.schemaContext)}::text[]`;
}

/** Of a catalog or an offer. */
export function validCondition(alias: string, now: Date, parameters: Parameters): string {
  const at = `${parameters.add(now)}::timestamptz`;
  const sinceMidnight = `${parameters.add(now.getTime() % dayMs)}::integer`;
  return `(${alias}.valid_from is null or ${alias}.valid_from <= ${at})
     and (${alias}.valid_until is null or ${alias}.valid_until >= ${at})
     and (${alias}.window_start is null
          or (${sinceMidnight} - ${alias}.window_start + ${dayMs}) % ${dayMs} <= ${alias}.window_length)`;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Catalogs that share a network; none means every network. */
export function sharedNetworkCondition(some: string, others: string): string {
  return `(${some}.networks = '{}' or ${others}.networks = '{}' or ${some}.networks && ${others}.networks)`;
}
