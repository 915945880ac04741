import type { Address } from '../protocol/catalog.ts';
import type { Geometry } from '../protocol/geojson.ts';

// What every import has in between: charging stations, wherever they come from, and what could not be taken over.

/** What becomes one catalog. */
export const perUnits = ['station', 'operator'] as const;
export type PerUnit = (typeof perUnits)[number];

export interface Station {
  /** Where it stands in the file: `row 17`. */
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

export type Attributes = { [member: string]: unknown };

export interface Source {
  /** Of the member: `attributes.connectorType`. */
  path: string;
  column: string;
  value: string;
}

/** What could not be taken over as it stands, and why. Nothing is dropped without one. */
export interface Problem {
  at: string;
  column?: string;
  value?: string;
  why: string;
  /**
   * `left-out`: a station or charger is missing for it; `value`: a value is; `doubt`: it is taken over and looks wrong;
   * `note`: nothing is wrong, but worth knowing.
   */
  kind: 'left-out' | 'value' | 'doubt' | 'note';
}
