import type { Address, TimePeriod } from '../protocol/catalog.ts';
import type { Geometry } from '../protocol/geojson.ts';

/** The unit of a catalog: a station, the stations of an operator in a region, or all stations of an operator. */
export const perUnits = ['station', 'region', 'operator'] as const;
export type PerUnit = (typeof perUnits)[number];

export interface Station {
  at: string;
  id: string;
  name?: string;
  description?: string;
  operator: { id: string; name: string };
  /** False: known to be out of use. */
  isActive?: boolean;
  geo?: Geometry;
  address?: Address;
  chargers: Charger[];
  /** Absent or empty: the price is unknown, not free. */
  tariffs?: Tariff[];
}

export interface Tariff {
  /** The id in the source; absent if it has none. */
  id?: string;
  name?: string;
  description?: string;
  code?: string;
  currency: string;
  prices: readonly Price[];
  validity?: TimePeriod;
  timeZone?: string;
  chargerIds: readonly string[];
}

/** The dimensions of OCPI, and the minimum and maximum price of a session. */
export type PriceType = 'ENERGY' | 'TIME' | 'PARKING_TIME' | 'FLAT' | 'MINIMUM' | 'MAXIMUM';

export interface Price {
  type: PriceType;
  /** Per kWh, hour or session, depending on its type. */
  value: number;
  /** In Wh or seconds, billed as a whole. */
  step?: number;
  taxIncluded?: boolean;
  taxPercent?: number;
  /** The price applies under these. Of several prices of a type, the first with matching restrictions applies. */
  restrictions?: Attributes;
}

/** One connector: one EnergyResourceEVCharger. */
export interface Charger {
  at: string;
  id: string;
  name?: string;
  description?: string;
  type: string;
  attributes: Attributes;
  /** The origins of the values, for messages about wrong ones. */
  sources: readonly Source[];
}

/** `attributes.availability` of a charger: the operator's last report, in the words of OCPI. */
export interface Availability {
  status: string;
  reportedAt?: string;
}

export type Attributes = { [member: string]: unknown };

export interface Source {
  path: string;
  column: string;
  value: string;
}

/** A value that could not be imported unchanged, and the reason. Every dropped value has one. */
export interface Problem {
  at: string;
  column?: string;
  value?: string;
  why: string;
  /**
   * `left-out`: a station or charger is missing because of it; `value`: a value is missing; `doubt`: its place looks wrong;
   * `note`: nothing is wrong, but worth knowing.
   */
  kind: 'left-out' | 'value' | 'doubt' | 'note';
}

export interface StationReading {
  /** Can be read once. */
  stations: Iterable<Station>;
  /** Complete when all stations have been read. */
  problems: Problem[];
  count: number;
}

export function isLoss({ kind }: Problem): boolean {
  return kind === 'left-out' || kind === 'value';
}

/** Reports a problem with one item of the source; by default, a lost value. */
export type Report = (why: string, more?: Partial<Problem>) => void;

export function reporter(at: string, problems: Problem[]): Report {
  return (why, more) => void problems.push({ at, why, kind: 'value', ...more });
}
