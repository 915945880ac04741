import { describe, expect, it } from 'vitest';
import { findConnectors, isConnectorColumn } from './connectors.ts';
import type { ConnectorSection } from './mapping-file.ts';

function find(cells: Record<string, string>, section: ConnectorSection) {
  const { connectors, problems } = findConnectors(new Map(Object.entries(cells)), section);
  return { connectors: connectors.map((connector) => Object.fromEntries(connector)), problems };
}

describe('connectors in a JSON column', () => {
  it('are the objects of its array, each member a cell', () => {
    const json = '[{"type":"CCS2","powerKw":50.5},{"type":null,"tags":["a"]}]';
    expect(find({ c: json }, { json: 'c' }).connectors).toEqual([
      { type: 'CCS2', powerKw: '50.5' },
      { type: '', tags: '["a"]' },
    ]);
    expect(find({}, { json: 'c' })).toEqual({ connectors: [], problems: [] });
  });

  it.each(['{"type":"CCS2"}', '["CCS2"]', 'CCS2'])('%s is reported', (value) => {
    const { connectors, problems } = find({ c: value }, { json: 'c' });
    expect(connectors).toEqual([]);
    expect(problems).toEqual([{ column: 'c', value, why: 'is not a JSON array of objects' }]);
  });
});

describe('connectors in columns of their own', () => {
  const numbered = { columns: { type: 'Type{n}', power: 'P{n} [kW]' }, upTo: 3, separator: ';' };

  it('are numbered, and those without any cell are not there', () => {
    const cells = { Type1: 'CCS2', 'P1 [kW]': '50', Type3: 'Type2', Type4: 'beyond' };
    expect(find(cells, numbered).connectors).toEqual([{ type: 'CCS2', power: '50' }, { type: 'Type2' }]);
  });

  it('may share a cell: one part is for all, several are for one each', () => {
    const cells = { Type1: 'Type2; Schuko', 'P1 [kW]': '11; 3,7', Type2: 'CCS2;CHAdeMO', 'P2 [kW]': '50' };
    expect(find(cells, numbered).connectors).toEqual([
      { type: 'Type2', power: '11' },
      { type: 'Schuko', power: '3,7' },
      { type: 'CCS2', power: '50' },
      { type: 'CHAdeMO', power: '50' },
    ]);
  });

  it('whose parts do not line up are reported, and not guessed', () => {
    const { connectors, problems } = find({ Type1: 'A;B;C', 'P1 [kW]': '11;22' }, numbered);
    expect(connectors).toEqual([{ type: 'A' }, { type: 'B' }, { type: 'C' }]);
    expect(problems).toEqual([
      { column: 'P1 [kW]', value: '11;22', why: 'is not one of each for 3 connectors' },
    ]);
  });

  it('may be a list in one cell', () => {
    const section = { columns: { type: 'Types' }, separator: ' ' };
    expect(find({ Types: 'J1772  CHADEMO' }, section).connectors).toEqual([
      { type: 'J1772' },
      { type: 'CHADEMO' },
    ]);
  });
});

describe('connectors that are counted', () => {
  const section = { counted: 'socket:{type}', columns: { output: 'socket:{type}:output' } };

  it('are as many as the cell says, with what is said of their type', () => {
    const cells = { 'socket:type2': '2', 'socket:type2:output': '22 kW', 'socket:chademo': 'yes', name: '3' };
    const type2 = { type: 'type2', output: '22 kW' };
    expect(find(cells, section)).toEqual({
      connectors: [type2, type2, { type: 'chademo', output: '' }],
      problems: [],
    });
    expect(find({ 'socket:schuko': 'no', 'socket:type1': '0' }, section).connectors).toEqual([]);
  });

  it('are one where the cell is no number, and that is reported', () => {
    const { connectors, problems } = find({ 'socket:type2': 'many' }, section);
    expect(connectors).toHaveLength(1);
    expect(problems).toMatchObject([{ column: 'socket:type2', value: 'many' }]);
  });
});

it('the columns of connectors are known by their names', () => {
  const numbered = { columns: { power: 'P{n} [kW]' } };
  expect(isConnectorColumn('P12 [kW]', numbered)).toBe(true);
  expect(isConnectorColumn('Px [kW]', numbered)).toBe(false);
  expect(isConnectorColumn('P21 [kW]', numbered)).toBe(false);
  expect(isConnectorColumn('P7 [kW]', { ...numbered, upTo: 6 })).toBe(false);
  const counted = { counted: 'socket:{type}', columns: { output: 'socket:{type}:output' } };
  expect(isConnectorColumn('socket:type2:output', counted)).toBe(true);
  expect(isConnectorColumn('socket:type2:current', counted)).toBe(false);
  expect(isConnectorColumn('connectors', { json: 'connectors' })).toBe(true);
});
