import { jsonPath } from '../protocol/json.ts';
import { findFaults } from '../protocol/validate.ts';
import type { ConnectorSection, FieldDetails, FieldText, FileSection, Scalar } from './mapping-file.ts';
import { MappingFile } from './mapping-file.ts';
import type { PerUnit } from './station.ts';
import { parseTemplate, type Template } from './template.ts';

/** A valid mapping with parsed templates. */
export interface Mapping {
  file: FileSection;
  per?: PerUnit;
  /** The wanted texts of some columns. Other rows are not chargers, or not wanted. */
  only: ReadonlyMap<string, ReadonlySet<string>>;
  operator: { id: Field; name: Field };
  station: { id: Field } & Partial<Record<StationMember, Field>>;
  connectors?: ConnectorSection;
  charger: ReadonlyMap<string, Field>;
  prices: ReadonlyMap<string, Field>;
  fields: readonly Field[];
  ignore: ReadonlySet<string> | '*';
  columns: ReadonlySet<string>;
}

export type StationMember = Exclude<keyof MappingFile['station'], 'id'>;

export interface Field extends Omit<FieldDetails, 'from' | 'values'> {
  name: string;
  /** The first one that can be filled counts. */
  templates: readonly Template[];
  values?: ReadonlyMap<string, Scalar | null>;
}

export class MappingFault extends Error {
  override readonly name = 'MappingFault';
}

const faultsOf = findFaults(MappingFile);

export function parseMapping(value: unknown): Mapping {
  const faults = faultsOf(value);
  if (faults.length > 0) throw new MappingFault(faults.map(({ message }) => message).join('\n'));
  const {
    file = {},
    per,
    only = {},
    operator,
    station,
    connectors,
    charger = {},
    prices = {},
    ignore = [],
  } = value as MappingFile;
  if (connectors) checkConnectors(connectors);
  const read = (section: string, fields: Record<string, FieldText>) =>
    new Map(Object.entries(fields).map(([name, field]) => [name, parseField([section, name], field)]));
  const sections = {
    operator: read('operator', operator),
    station: read('station', station),
    charger: read('charger', charger),
    prices: withKinds(read('prices', prices as Record<string, FieldText>)),
  };
  const fields = Object.values(sections).flatMap((section) => [...section.values()]);
  return {
    file,
    per,
    only: new Map(
      Object.entries(only).map(([column, texts]) => [column, new Set([texts].flat().map(comparable))]),
    ),
    operator: Object.fromEntries(sections.operator) as Mapping['operator'],
    station: withNumbers(Object.fromEntries(sections.station) as Mapping['station']),
    connectors,
    charger: sections.charger,
    prices: sections.prices,
    fields,
    ignore: ignore === '*' ? ignore : new Set(ignore),
    columns: new Set([
      ...Object.keys(only),
      ...fields.flatMap(({ templates }) => templates.flatMap(({ columns }) => columns)),
    ]),
  };
}

/** Texts are compared without case and repeated blanks. */
export function comparable(text: string): string {
  return text.trim().replace(/\s+/g, ' ').toLowerCase();
}

/** In a mapping, coordinates are numbers by default. */
function withNumbers({ latitude, longitude, ...others }: Mapping['station']): Mapping['station'] {
  const asNumber = (field: Field): Field => ({ ...field, as: 'number' });
  return {
    ...others,
    ...(latitude && { latitude: asNumber(latitude) }),
    ...(longitude && { longitude: asNumber(longitude) }),
  };
}

/** In a mapping, prices are numbers and validities are dates by default. */
function withKinds(prices: Map<string, Field>): Map<string, Field> {
  const kindOf = (name: string) =>
    name.startsWith('valid')
      ? 'date-time'
      : ['currency', 'name', 'taxIncluded'].includes(name)
        ? undefined
        : 'number';
  return new Map([...prices].map(([name, field]) => [name, { as: kindOf(name), ...field }]));
}

function checkConnectors({ json, columns, counted }: ConnectorSection): void {
  const ways = [json, counted ?? columns].filter((way) => way !== undefined);
  if (ways.length === 1) return;
  throw new MappingFault(
    '$.connectors: must have one of json, columns and counted (which may have columns too)',
  );
}

function parseField(at: [string, string], field: FieldText): Field {
  const details = typeof field === 'string' || Array.isArray(field) ? { from: field } : field;
  const { from, values, ...rest } = details;
  try {
    return {
      ...rest,
      name: at.join('.'),
      templates: [from].flat().map(parseTemplate),
      ...(values && {
        values: new Map(Object.entries(values).map(([text, value]) => [comparable(text), value])),
      }),
    };
  } catch (error) {
    throw new MappingFault(`${jsonPath(at)}: ${error instanceof Error ? error.message : error}`);
  }
}
