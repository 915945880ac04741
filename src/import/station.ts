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
  /** False: known to be out of use for now. */
  isActive?: boolean;
  geo?: Geometry;
  address?: Address;
  chargers: Charger[];
  /** Absent or empty: the price is not known, which does not mean free. */
  tariffs?: Tariff[];
}

export interface Tariff {
  /** As the source calls it; absent where it has no name for it. */
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

/** The dimensions of OCPI, and the least and the most that a session costs. */
export type PriceType = 'ENERGY' | 'TIME' | 'PARKING_TIME' | 'FLAT' | 'MINIMUM' | 'MAXIMUM';

export interface Price {
  type: PriceType;
  /** Per kWh, hour or session, as its type says. */
  value: number;
  /** In Wh or seconds, billed as a whole. */
  step?: number;
  taxIncluded?: boolean;
  taxPercent?: number;
  /** Under which it applies. Of several prices of a type, the first whose restrictions hold applies. */
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
  /** Where the values come from, for a message about one that turns out to be wrong. */
  sources: readonly Source[];
}

/** `attributes.availability` of a charger: what its operator last said of it, in the words of OCPI. */
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

/** A value that could not be imported as it is, and the reason. Every dropped value has one. */
export interface Problem {
  at: string;
  column?: string;
  value?: string;
  why: string;
  /**
   * `left-out`: a station or charger is missing for it; `value`: a value is; `doubt`: its place looks wrong;
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
