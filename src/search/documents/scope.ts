import type { Parameters } from '../../storage/parameters.ts';

// Which catalogs and offers count, as conditions in SQL (rules/discover/served.ts says the same of values). The texts are always the same, whatever
// a search is narrowed to: so statements with them can be prepared.

/** What a search is narrowed to. */
export interface Gate {
  now: Date;
  networkId?: string;
  /** Schema context URIs, one of which the catalog must use; none means all. */
  schemaContext: readonly string[];
}

/** What every catalog and offer must satisfy, as parameters of a statement. */
export interface GateParameters {
  now: string;
  sinceMidnight: string;
  networkId: string;
}

export function addGate({ now, networkId }: Gate, parameters: Parameters): GateParameters {
  return { ...addMoment(now, parameters), networkId: `${parameters.add(networkId ?? null)}::text` };
}

type MomentParameters = Pick<GateParameters, 'now' | 'sinceMidnight'>;

export function addMoment(now: Date, parameters: Parameters): MomentParameters {
  return {
    now: `${parameters.add(now)}::timestamptz`,
    sinceMidnight: `${parameters.add(now.getTime() % dayMs)}::integer`,
  };
}

/** The catalog `alias` counts in this network, now: no template, active, within its validity, not hidden. */
export function servedCondition(alias: string, gate: GateParameters): string {
  const { networkId } = gate;
  return `${alias}.type = 'REGULAR' and ${alias}.is_active and ${alias}.served and ${validCondition(alias, gate)}
    and (${networkId} is null or ${alias}.networks = '{}' or ${networkId} = any (${alias}.networks))`;
}

/** Of a catalog or an offer. */
export function validCondition(alias: string, { now, sinceMidnight }: GateParameters): string {
  return `(${alias}.valid_from is null or ${alias}.valid_from <= ${now})
     and (${alias}.valid_until is null or ${alias}.valid_until >= ${now})
     and (${alias}.window_start is null
          or (${sinceMidnight} - ${alias}.window_start + ${dayMs}) % ${dayMs} <= ${alias}.window_length)`;
}

/** In how many milliseconds a catalog or an offer begins or ends to be valid; null where it never does. */
export function msToChange(alias: string, { now, sinceMidnight }: MomentParameters): string {
  const until = (moment: string) => `extract(epoch from ${moment} - ${now}) * 1000`;
  const within = (time: string) => `(${time} - ${sinceMidnight} + ${dayMs}) % ${dayMs}`;
  return `least(
    case when ${alias}.valid_from > ${now} then ${until(`${alias}.valid_from`)} end,
    case when ${alias}.valid_until >= ${now} then ${until(`${alias}.valid_until`)} end,
    ${within(`${alias}.window_start`)}, ${within(`(${alias}.window_start + ${alias}.window_length)`)})`;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Catalogs that share a network; none means every network. */
export function sharedNetworkCondition(some: string, others: string): string {
  return `(${some}.networks = '{}' or ${others}.networks = '{}' or ${some}.networks && ${others}.networks)`;
}
