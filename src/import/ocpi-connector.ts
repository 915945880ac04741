import type { JsonObject } from '../protocol/json.ts';
import { type Power, powerIn } from './cell-values.ts';

// The connectors of OCPI 2.2.1 in the words of the EV charger type (self-hosted spec: EV charger resource type).

/** Undefined where OCPI knows no such standard. */
export function connectorTypeOf(standard: string): string | undefined {
  return connectorTypes.get(standard) ?? (others.test(standard) ? 'Other' : undefined);
}

const connectorTypes: ReadonlyMap<string, string> = new Map([
  ['IEC_62196_T1', 'Type1'],
  ['IEC_62196_T1_COMBO', 'CCS1'],
  ['IEC_62196_T2', 'Type2'],
  ['IEC_62196_T2_COMBO', 'CCS2'],
  ['CHADEMO', 'CHAdeMO'],
  ['GBT_AC', 'GB_T'],
  ['GBT_DC', 'GB_T'],
  // The oval plug is the one that SAE J3400 made a standard of.
  ['TESLA_S', 'NACS'],
  ['SAE_J3400', 'NACS'],
]);

/** Household, industrial and older plugs, which the EV charger type has no name for. */
const others =
  /^(?:DOMESTIC_[A-O]|IEC_60309_2_\w+|IEC_62196_T3[AC]|NEMA_\w+|PANTOGRAPH_\w+|TESLA_R|CHAOJI|MCS)$/;

/**
 * What the connector can deliver: max_electric_power where it is given, as OCPI asks when it is lower than voltage and amperage
 * make it; otherwise those two. Voltage is line to neutral with three phases. With two phases OCPI does not say.
 */
export function powerOfConnector(connector: JsonObject): Power | undefined {
  const {
    max_electric_power: watts,
    max_voltage: volts,
    max_amperage: amperes,
    power_type: kind,
  } = connector;
  if (typeof watts === 'number' && watts > 0) return powerIn('W', watts);
  const phases = typeof kind === 'string' ? phasesOf[kind] : undefined;
  if (typeof volts !== 'number' || typeof amperes !== 'number' || phases === undefined) return undefined;
  return powerIn('W', volts * amperes * phases);
}

const phasesOf: Record<string, number> = { DC: 1, AC_1_PHASE: 1, AC_3_PHASE: 3 };
