import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';
import { type Power, powerIn, textOf } from './cell-values.ts';
import type { Attributes, Availability, Charger, Report } from './station.ts';

// An EVSE of OCPI: each of its connectors is a charger, with the status of the EVSE and the time of its report. An EVSE that is planned or removed
// is left out.

interface EvseContext {
  at: string;
  path: string;
  /** `country_code*party_id`, within which `uid` is unique. */
  owner: string;
  stationName?: string;
  shared: Attributes;
  addTariff(tariff: Json, chargerId: string): void;
  report: Report;
}

export function chargersOfEvse(evse: Json, context: EvseContext): Charger[] {
  const { path, report } = context;
  const uid = isJsonObject(evse) ? textOf(evse.uid) : undefined;
  if (!isJsonObject(evse) || uid === undefined) {
    report('needs a uid', { column: path, kind: 'left-out' });
    return [];
  }
  if (evse.status === 'REMOVED' || evse.status === 'PLANNED') {
    report('is left out: it does not exist', { column: 'evses.status', value: evse.status, kind: 'note' });
    return [];
  }
  const connectors = Array.isArray(evse.connectors) ? evse.connectors : [];
  if (connectors.length === 0) report('has no connector', { column: path, value: uid, kind: 'left-out' });
  return connectors.flatMap((connector, index) => {
    const id = isJsonObject(connector) ? textOf(connector.id) : undefined;
    if (isJsonObject(connector) && id !== undefined) {
      const charger = chargerOf(connector, { ...context, evse, id: `${context.owner}*${uid}*${id}` });
      // Version 2.1.1 has one tariff_id; some operators send whole tariffs with the EVSE.
      for (const tariff of [connector.tariff_ids ?? connector.tariff_id ?? [], evse.tariffs ?? []].flat())
        context.addTariff(tariff, charger.id);
      return charger;
    }
    report('needs an id', { column: `${path}.connectors[${index}]`, kind: 'left-out' });
    return [];
  });
}

function chargerOf(
  connector: JsonObject,
  { at, id, evse, stationName, shared, report }: EvseContext & { id: string; evse: JsonObject },
): Charger {
  const standard = textOf(connector.standard);
  const connectorType = standard === undefined ? undefined : connectorTypeOf(standard);
  if (connectorType === undefined)
    report('is not a connector standard of OCPI 2.2.1', {
      column: 'evses.connectors.standard',
      value: standard,
    });
  const ratedPower = powerOfConnector(connector);
  if (ratedPower === undefined)
    report('does not give the power', {
      column: 'evses.connectors.max_electric_power',
      value: textOf(connector.power_type),
    });
  const members: [name: string, column: string, value: unknown][] = [
    ['connectorType', 'evses.connectors.standard', connectorType],
    ['connectorDescription', 'evses.connectors.standard', standard],
    ['connectorFormat', 'evses.connectors.format', textOf(connector.format)],
    ['powerType', 'evses.connectors.power_type', textOf(connector.power_type)],
    ['ratedPower', 'evses.connectors.max_electric_power', ratedPower],
    ['controlProtocol', 'evses.connectors.capabilities', protocolOf(connector)],
    ['evseId', 'evses.evse_id', textOf(evse.evse_id)],
    ['availability', 'evses.status', availabilityOf(evse)],
  ];
  const known = members.filter(([, , value]) => value !== undefined);
  const kind = [connectorType ?? 'Charger', ratedPower && `${ratedPower.value} kW`].filter(Boolean).join(' ');
  return {
    at,
    id,
    name: stationName === undefined ? kind : `${kind} at ${stationName}`,
    type: 'EV_CHARGER',
    attributes: { ...Object.fromEntries(known.map(([name, , value]) => [name, value])), ...shared },
    sources: known.map(([name, column, value]) => {
      return { path: `attributes.${name}`, column, value: JSON.stringify(value) };
    }),
  };
}

/** The newest version of ISO 15118, from the plug and charge capabilities of OCPI 2.3.0. */
function protocolOf({ capabilities }: JsonObject): string | undefined {
  const names = ['ISO_15118_20', 'ISO_15118_2'];
  return names.find((name) => [capabilities].flat().includes(`${name}_PLUG_AND_CHARGE`));
}

function availabilityOf({ status, last_updated }: JsonObject): Availability | undefined {
  const [said, reportedAt] = [textOf(status), textOf(last_updated)];
  return said === undefined ? undefined : { status: said, ...(reportedAt !== undefined && { reportedAt }) };
}

// Maps the connectors of OCPI 2.2.1 to the EV charger type (self-hosted spec: EV charger resource type).

/** Undefined if OCPI has no such standard. */
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
  // SAE J3400 standardised this oval plug.
  ['TESLA_S', 'NACS'],
  ['SAE_J3400', 'NACS'],
]);

/** Household, industrial and older plugs, for which the EV charger type has no name. */
const others =
  /^(?:DOMESTIC_[A-O]|IEC_60309_2_\w+|IEC_62196_T3[AC]|NEMA_\w+|PANTOGRAPH_\w+|TESLA_R|CHAOJI|MCS)$/;

/**
 * The power of a connector: max_electric_power if it is given, as OCPI requires when it is lower than voltage times amperage;
 * otherwise that product. With three phases, the voltage is line to neutral. OCPI does not define it for two phases.
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
