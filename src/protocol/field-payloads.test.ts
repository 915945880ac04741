import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dataFile } from '../../tests/support/catalogs/data-dir.ts';
import { type Action, actions } from './actions.ts';
import { parseEnvelope } from './envelope.ts';
import { findFaults } from './validate.ts';

/**
 * Payloads that nodes in the field send, read at the moment that they name. Several are older than the rules: their faults are known, and our answers
 * must name them.
 */
const folder = dataFile('catalogs');
const accepted = 'accepted';
const verdicts: [file: string, verdict: string][] = [
  ['deg__p2p-trading-ies-wave2-uc1__publish-catalog.json', accepted],
  ['ev-chargers-london-60.publish.json', accepted],
  ['ev_charging_catalog_example.json', 'SCH_REQUIRED_FIELD_MISSING $.message.catalogs[0].provider'],
  ['ev_charging_patch_example.json', 'SCH_REQUIRED_FIELD_MISSING $.message.catalogs[0].provider'],
  ['requests__discover_geo_s_dwithin.json', accepted],
  ['requests__ev_charging_jsonpath_connector_match.json', accepted],
  ['retail-devkit__publish-request.json', accepted],
  ['retail-ion__discover-jsonpath.json', accepted],
  ['retail-ion__discover-spatial-query-catalog.json', accepted],
  ['retail-ion__discover-text-search.json', accepted],
  ['retail-ion__publish-master-catalog-coffee.json', accepted],
  ['retail-ion__publish-regular-tea-coffee.json', accepted],
  ['retail-ion__search-master-resources.json', accepted],
  ['retail-ion__subscription-api.json', accepted],
];

describe('payloads of the field (needs the field payloads)', () => {
  for (const [file, verdict] of verdicts) {
    it.skipIf(!existsSync(`${folder}/${file}`))(`${file}: ${verdict}`, () => {
      const body = read(file);
      expect(judge(body, sentAt(body))).toBe(verdict);
    });
  }

  it.skipIf(!existsSync(folder))('that carry a ttl are too old by now', () => {
    expect(judge(read('retail-devkit__publish-request.json'), new Date('2026-03-01T00:00:00Z'))).toBe(
      'CTX_TTL_EXPIRED $.context.ttl',
    );
  });

  it.skipIf(!existsSync(folder))('of an older protocol break several rules at once', () => {
    const body = read('ev_charging_catalog_example.json');
    const faults = findFaults(actions.publish.body)(body);
    expect(faults.map(({ code, details }) => `${code} ${details?.path}`)).toEqual(
      expect.arrayContaining([
        'SCH_REQUIRED_FIELD_MISSING $.message.catalogs[0].provider',
        "SCH_FIELD_NOT_ALLOWED $.message.catalogs[0]['@context']",
        "SCH_FIELD_NOT_ALLOWED $.message.catalogs[0]['@type']",
        'SCH_SCHEMA_VALIDATION_FAILED $.message.catalogs[0].offers[0].provider',
      ]),
    );
  });
});

interface FieldPayload {
  context: { action: string; timestamp: string };
}

function read(file: string): FieldPayload {
  return JSON.parse(readFileSync(`${folder}/${file}`, 'utf8'));
}

function sentAt(body: FieldPayload): Date {
  return new Date(body.context.timestamp);
}

function judge(body: unknown, now: Date): string {
  const { action: name } = (body as FieldPayload).context;
  const action = Object.values<Action>(actions).find(
    (known) => known.name === name && known.method === 'POST',
  );
  if (!action) throw new Error(`no action ${name}`);
  try {
    parseEnvelope(Buffer.from(JSON.stringify(body)), action, now);
    return accepted;
  } catch (error) {
    const { code, path } = error as { code?: string; path?: string };
    return `${code} ${path}`;
  }
}
