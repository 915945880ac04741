import { findGeometryFault, type Geometry } from '../protocol/geojson.ts';
import { findConnectors } from './connectors.ts';
import { mapPrices } from './map-prices.ts';
import { comparable, type Mapping } from './mapping.ts';
import { findAddress, findPoint, whyNoPoint } from './place.ts';
import { createRowReader, type Row, type RowReader } from './row-reader.ts';
import type { Attributes, Charger, Problem, Source, Station, Tariff } from './station.ts';

/** Connectors are numbered across the rows of their station, because a list may have one row per connector. */
export function createRowMapper(mapping: Mapping) {
  const numbers = new Map<string, number>();
  return (given: Row): { station?: Station; problems: Problem[] } => {
    const row = withoutNothing(given, mapping);
    const problems: Problem[] = [];
    const reader = createRowReader(row, mapping, problems);
    if (!isWanted(row, mapping, reader)) return { problems };
    const id = reader.needed(mapping.station.id);
    const operatorId = reader.needed(mapping.operator.id);
    const operatorName = reader.needed(mapping.operator.name);
    if (id === undefined || operatorId === undefined || operatorName === undefined) return { problems };

    const tariffs: Tariff[] = [];
    const chargers = connectorsOf(row, mapping, reader).flatMap((connector) => {
      const number = (numbers.get(id) ?? 0) + 1;
      numbers.set(id, number);
      connector.set('number', String(number));
      const ofConnector = createRowReader(row, mapping, problems, connector);
      const charger = mapCharger(`${id}-${number}`, { row, mapping, reader: ofConnector });
      if (!charger) return [];
      tariffs.push(...[mapPrices(mapping, ofConnector, charger.id) ?? []].flat());
      return [charger];
    });
    const station: Station = {
      at: row.at,
      id,
      name: reader.text('name'),
      description: reader.text('description'),
      operator: { id: operatorId, name: operatorName },
      isActive: isActive(reader),
      geo: 'geometry' in row ? geometryOf(row.geometry, reader) : pointOf(reader),
      address: addressOf(reader),
      chargers,
      tariffs,
    };
    return { station, problems };
  };
}

/** A cell that means "no value" counts as empty, also for connectors. */
function withoutNothing(row: Row, { file }: Mapping): Row {
  const { nothing = [] } = file;
  return { ...row, cells: new Map([...row.cells].filter(([, text]) => !nothing.includes(text.trim()))) };
}

function isWanted({ cells }: Row, { only }: Mapping, reader: RowReader): boolean {
  for (const [column, texts] of only) {
    const value = cells.get(column) ?? '';
    if (texts.has(comparable(value))) continue;
    reader.report('is not what the mapping expects', { column, value, kind: 'note' });
    return false;
  }
  return true;
}

/** A station without known connectors is one charger without a connector: at least it is a charger. */
function connectorsOf({ cells }: Row, { connectors: section }: Mapping, reader: RowReader) {
  const none = [new Map<string, string>()];
  if (!section) return none;
  const { connectors, problems } = findConnectors(cells, section);
  for (const { why, ...more } of problems) reader.report(why, more);
  if (connectors.length > 0) return connectors;
  reader.report('names no connector: imported as one charger of unknown kind', { kind: 'note' });
  return none;
}

interface ConnectorContext {
  row: Row;
  mapping: Mapping;
  reader: RowReader;
}

function mapCharger(usualId: string, { row, mapping, reader }: ConnectorContext): Charger | undefined {
  const idField = mapping.charger.get('id');
  const id = idField ? reader.needed(idField) : usualId;
  if (id === undefined) return undefined;
  const members: Attributes = {};
  const sources: Source[] = [];
  for (const [path, field] of mapping.charger) {
    const result = path === 'id' ? undefined : reader.read(field);
    if (result?.kind !== 'value') continue;
    setMember(members, path.split('.'), result.value);
    sources.push({ path, column: result.column, value: result.text });
  }
  const { name, description, type = 'EV_CHARGER', attributes = {} } = members;
  return {
    at: row.at,
    id,
    ...(name !== undefined && { name: String(name) }),
    ...(description !== undefined && { description: String(description) }),
    type: String(type),
    attributes: attributes as Attributes,
    sources,
  };
}

function setMember(holder: Attributes, [name = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) holder[name] = value;
  else {
    holder[name] ??= {};
    setMember(holder[name] as Attributes, rest, value);
  }
}

function isActive(reader: RowReader): boolean | undefined {
  const value = reader.value('isActive');
  if (value === undefined || typeof value === 'boolean') return value;
  reader.report('is neither true nor false', { column: 'station.isActive', value: String(value) });
  return undefined;
}

function pointOf(reader: RowReader): Geometry | undefined {
  const [east, north] =
    /^\[?\s*(-?[\d.]+)\s*[,;]\s*(-?[\d.]+)\s*\]?$/.exec(reader.text('coordinates') ?? '')?.slice(1) ?? [];
  const latitude = numberOf(reader.value('latitude')) ?? (north === undefined ? undefined : Number(north));
  const longitude = numberOf(reader.value('longitude')) ?? (east === undefined ? undefined : Number(east));
  const point = findPoint(latitude, longitude);
  if (!point) {
    const value = latitude === undefined || longitude === undefined ? undefined : `${latitude}, ${longitude}`;
    reader.report(whyNoPoint(latitude, longitude), { value });
  }
  return point;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function geometryOf(geometry: unknown, reader: RowReader): Geometry | undefined {
  const fault = findGeometryFault(geometry);
  if (!fault) return geometry as Geometry;
  const column = ['geometry', ...fault.at].join('.');
  reader.report(`${fault.message}: it will not be found by place`, { column });
  return undefined;
}

function addressOf(reader: RowReader) {
  return findAddress({
    streetAddress: reader.text('street'),
    addressLocality: reader.text('city'),
    addressRegion: reader.text('region'),
    postalCode: reader.text('postalCode'),
    addressCountry: reader.text('country'),
  });
}
