import type { PeriodBounds } from '../../rules/time-period.ts';
import type { Parameters } from '../../storage/parameters.ts';

// The scope of a search as conditions in SQL: which catalogs and offers are served, now and in a network (rules/discover/served.ts says the same of values). The texts do not depend on the
// scope: so statements with them can be prepared.

/** The scope of a search: which catalogs it looks at. */
export interface Scope {
  now: Date;
  networkId?: string;
  /** Schema context URIs, one of which the catalog must use; none means all. */
  schemaContext: readonly string[];
}

/** What every catalog and offer must satisfy, as parameters of a statement. */
export interface ScopeParameters {
  now: string;
  sinceMidnight: string;
  networkId: string;
}

export function addScope({ now, networkId }: Scope, parameters: Parameters): ScopeParameters {
  return { ...addMoment(now, parameters), networkId: `${parameters.add(networkId ?? null)}::text` };
}

type MomentParameters = Pick<ScopeParameters, 'now' | 'sinceMidnight'>;

export function addMoment(now: Date, parameters: Parameters): MomentParameters {
  return {
    now: `${parameters.add(now)}::timestamptz`,
    sinceMidnight: `${parameters.add(now.getTime() % dayMs)}::integer`,
  };
}

/** The catalog `alias` counts in this network, now: no template, active, within its validity, not hidden. */
export function servedCondition(alias: string, scope: ScopeParameters): string {
  const { networkId } = scope;
  return `${alias}.type = 'REGULAR' and ${alias}.is_active and ${alias}.served and ${validCondition(alias, scope)}
    and (${networkId} is null or ${alias}.networks = '{}' or ${networkId} = any (${alias}.networks))`;
}

/** Of a catalog or an offer. */
export function validCondition(alias: string, { now, sinceMidnight }: MomentParameters): string {
  return `(${alias}.valid_from is null or ${alias}.valid_from <= ${now})
     and (${alias}.valid_until is null or ${alias}.valid_until >= ${now})
     and (${alias}.window_start is null
          or (${sinceMidnight} - ${alias}.window_start + ${dayMs}) % ${dayMs} <= ${alias}.window_length)`;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Catalogs that share a network; none means every network. */
export function sharedNetworkCondition(some: string, others: string): string {
  return `(${some}.networks = '{}' or ${others}.networks = '{}' or ${some}.networks && ${others}.networks)`;
}

/** The validity of a catalog or an offer in one column: mostly there is none. */
export const validityText = `case when num_nonnulls(valid_from, valid_until, window_start) > 0 then json_build_array(
  extract(epoch from valid_from) * 1000, extract(epoch from valid_until) * 1000, window_start, window_length)::text end`;

type Columns = [
  from: number | null,
  until: number | null,
  windowStart: number | null,
  windowLength: number | null,
];

export function readPeriod(text: string | null): PeriodBounds {
  if (text === null) return {};
  const [from, until, start, length]: Columns = JSON.parse(text);
  return {
    ...(from !== null && { from: new Date(from) }),
    ...(until !== null && { until: new Date(until) }),
    ...(start !== null && length !== null && { window: { start, length } }),
  };
}
