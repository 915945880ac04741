import { setImmediate } from 'node:timers/promises';
import { stationsOfDatex } from '../../import/datex.ts';
import { createRowMapper } from '../../import/map-row.ts';
import type { Mapping } from '../../import/mapping.ts';
import { stationsOfOcpi } from '../../import/ocpi.ts';
import type { PerUnit, Problem, Station } from '../../import/station.ts';
import type { Json } from '../../protocol/json.ts';
import { type CommandContext, CommandError } from '../command.ts';
import { withProgress } from '../progress.ts';
import { parseJsonInput, readInput } from '../read-input.ts';
import { readCsv } from './csv.ts';
import { compareColumns, readMapping } from './mapping.ts';
import { type RowSource, readGeoJson } from './rows.ts';

// Where stations come from, for `import` and `sync` alike.

/** A file, read whole. */
export interface ListSource {
  kind: 'csv' | 'geojson' | 'ocpi' | 'datex';
  file: string;
  /** Of a CSV or GeoJSON file. */
  mapping?: string;
  /** File of the tariffs that OCPI locations name. */
  tariffs?: string;
  /** File of the DATEX II status publication. */
  status?: string;
}

export interface Reading {
  /** To be read once. */
  stations: Iterable<Station>;
  /** How many there are, or a few less. */
  stationCount: number;
  /** Complete when all stations were read. */
  problems: Problem[];
  /** Of rows, features or locations, which `unit` names. */
  count: number;
  unit: string;
  /** As the mapping says. */
  per?: PerUnit;
}

/** @param open gives the bytes of a file of the source */
export async function readList(
  { kind, file, mapping = '', tariffs, status }: ListSource,
  context: CommandContext,
  open: (file: string) => Promise<Buffer> = (name) => readInput(name, context),
): Promise<Reading> {
  const read = async (name: string) => parseJsonInput(name, await open(name));
  if (kind === 'ocpi')
    return readLocations(await read(file), tariffs === undefined ? [] : await read(tariffs), file);
  if (kind === 'datex') {
    const documents = [await read(file), ...(status === undefined ? [] : [await read(status)])];
    const found = explaining(() => stationsOfDatex(documents), file);
    return { ...found, stationCount: found.stations.length, unit: 'site' };
  }
  const known = await readMapping(mapping, context);
  const bytes = await open(file);
  return withProgress(context, `Reading ${file}`, async () =>
    kind === 'geojson'
      ? readRows(readGeoJson(parseJsonInput(file, bytes), file), known, 'feature')
      : readRows(await readCsv(bytes, known.file, file), known, 'row'),
  );
}

/** @param source as an error calls it */
export function readLocations(document: Json, tariffs: Json, source: string): Reading {
  const found = explaining(() => stationsOfOcpi(document, tariffs), source);
  return { ...found, stationCount: found.count, unit: 'location' };
}

function explaining<T>(read: () => T, source: string): T {
  try {
    return read();
  } catch (error) {
    throw new CommandError(
      `${source} cannot be imported: ${error instanceof Error ? error.message : error}.`,
      error,
    );
  }
}

async function readRows(source: RowSource, mapping: Mapping, unit: string): Promise<Reading> {
  const problems = compareColumns(mapping, source.columns);
  const stations: Station[] = [];
  const mapRow = createRowMapper(mapping);
  let count = 0;
  for await (const row of source.rows((problem) => void problems.push(problem))) {
    count += 1;
    // Nothing here waits for the outside world: without a pause, no progress would be shown.
    if (count % rowsBetweenPauses === 0) await setImmediate();
    const mapped = row ? mapRow(row) : { problems: [] };
    problems.push(...mapped.problems);
    if (mapped.station) stations.push(mapped.station);
  }
  const { size: stationCount } = new Set(stations.map(({ id }) => id));
  return { stations, stationCount, problems, count, unit, per: mapping.per };
}

const rowsBetweenPauses = 1_000;
