import { setImmediate } from 'node:timers/promises';
import { datexLists, stationsOfDatex } from '../../import/datex.ts';
import { createRowMapper } from '../../import/map-row.ts';
import type { Mapping } from '../../import/mapping.ts';
import { objectsOf, ocpiLists, stationsOfOcpi } from '../../import/ocpi.ts';
import type { PerUnit, Station, StationReading } from '../../import/station.ts';
import type { Json } from '../../protocol/json.ts';
import { type JsonItems, parseJsonItems } from '../../protocol/json-items.ts';
import { type CommandContext, CommandError, reasonOf, withProgress } from '../command.ts';
import { explainJson, parseJsonInput, readInput } from '../read-input.ts';
import { readCsv } from './csv.ts';
import { compareColumns, readMapping } from './mapping.ts';
import { featuresOf, geoJsonLists, type RowSource, readGeoJson } from './rows.ts';

export interface ListSource {
  kind: 'csv' | 'geojson' | 'ocpi' | 'datex';
  file: string;
  mapping?: string;
  tariffs?: string;
  status?: string;
}

export interface Reading extends StationReading {
  /** The number of stations, or slightly fewer. */
  stationCount: number;
  unit: string;
  per?: PerUnit;
}

/** @param open returns the bytes of a file of the source */
export async function readList(
  { kind, file, mapping = '', tariffs, status }: ListSource,
  context: CommandContext,
  open: (file: string) => Promise<Buffer> = (name) => readInput(name, context),
): Promise<Reading> {
  if (kind === 'ocpi') {
    const read = async (name: string) => readItems(name, await open(name), ocpiLists, objectsOf);
    return readLocations(await read(file), tariffs === undefined ? [] : await read(tariffs));
  }
  if (kind === 'datex') {
    const bytes = await open(file);
    const { document, items } = explainJson(file, () => parseJsonItems(bytes, datexLists));
    const statuses = status === undefined ? [] : [parseJsonInput(status, await open(status))];
    const found = explaining(() => stationsOfDatex([document, ...statuses], items), file);
    return { ...found, stationCount: found.count, unit: 'site' };
  }
  const known = await readMapping(mapping, context);
  const bytes = await open(file);
  return withProgress(context, `Reading ${file}`, async () =>
    kind === 'geojson'
      ? readRows(readGeoJson(readItems(file, bytes, geoJsonLists, featuresOf), file), known, 'feature')
      : readRows(await readCsv(bytes, known.file, file), known, 'row'),
  );
}

export function readLocations(locations: JsonItems, tariffs: JsonItems): Reading {
  const found = stationsOfOcpi(locations, tariffs);
  return { ...found, stationCount: found.count, unit: 'location' };
}

/** @param listOf finds the list in a document whose items were removed, or that has none */
function readItems(file: string, bytes: Buffer, lists: RegExp, listOf: (document: Json) => Json[]) {
  const { document, items } = explainJson(file, () => parseJsonItems(bytes, lists));
  const list = explaining(() => listOf(document), file);
  return list.length === 0 ? items : list;
}

function explaining<T>(read: () => T, source: string): T {
  try {
    return read();
  } catch (error) {
    throw new CommandError(`${source} cannot be imported: ${reasonOf(error)}.`, error);
  }
}

async function readRows(source: RowSource, mapping: Mapping, unit: string): Promise<Reading> {
  const problems = compareColumns(mapping, source.columns);
  const stations: Station[] = [];
  const mapRow = createRowMapper(mapping);
  let count = 0;
  for await (const row of source.rows((problem) => void problems.push(problem))) {
    count += 1;
    // Nothing here waits for I/O: without a pause, no progress would be shown.
    if (count % rowsBetweenPauses === 0) await setImmediate();
    const mapped = row ? mapRow(row) : { problems: [] };
    problems.push(...mapped.problems);
    if (mapped.station) stations.push(mapped.station);
  }
  const { size: stationCount } = new Set(stations.map(({ id }) => id));
  return { stations: drain(stations), stationCount, problems, count, unit, per: mapping.per };
}

/** Yields each item and releases it from memory. */
function* drain<T>(items: T[]): Generator<T> {
  items.reverse();
  for (let item = items.pop(); item !== undefined; item = items.pop()) yield item;
}

const rowsBetweenPauses = 1_000;
