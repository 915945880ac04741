import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sampleContext, sampleNow } from '../../tests/support/catalogs/sample-messages.ts';
import { runs } from '../../tests/support/reproducible.ts';
import { arbitraryValue } from '../../tests/support/values/arbitrary-value.ts';
import { without } from '../../tests/support/values/changed.ts';
import { actions } from './actions.ts';
import { parseEnvelope } from './envelope.ts';
import type { Segments } from './fault.ts';
import { jsonPath } from './json.ts';
import { type PublishMessage, PublishRequest } from './publish-messages.ts';
import { type TSchema, Type } from './type.ts';

describe('any publish', () => {
  it('that the schema describes passes, whatever it holds', () => {
    fc.assert(
      fc.property(validPublish, (body) => {
        expect(parseEnvelope(body, actions.publish, sampleNow)).toEqual(body);
      }),
      { numRuns: runs(100) },
    );
  });

  it('without one of its required members is refused with the code and the path of that member', () => {
    fc.assert(
      fc.property(validPublish, fc.nat(), (body, choice) => {
        const members = requiredMembers(PublishRequest, body);
        const segments = members[choice % members.length] ?? [];
        const code = segments[0] === 'context' ? 'CTX_MISSING_FIELD' : 'SCH_REQUIRED_FIELD_MISSING';
        const broken = without(body, segments);
        expect(() => parseEnvelope(broken, actions.publish, sampleNow)).toThrow(
          expect.objectContaining({ code, path: jsonPath(segments) }),
        );
      }),
      { numRuns: runs(300) },
    );
  });
});

/** Any body of the schema, with the routing fields of a publish and with consistent ids. */
const validPublish = arbitraryValue(PublishRequest).map((value) => {
  const { context, message } = value as { context: object; message: PublishMessage };
  const { version, action, timestamp } = sampleContext(actions.publish);
  const fresh = { ...context, version, action, timestamp, ttl: 'PT30S' };
  return { context: fresh, message: withAgreeingIds(message) };
});

function withAgreeingIds(message: PublishMessage): PublishMessage {
  const catalogs = numbered(message.catalogs, 'catalog').map((catalog) => ({
    ...catalog,
    ...(catalog.resources && { resources: numbered(catalog.resources, 'resource') }),
    ...(catalog.offers && { offers: numbered(catalog.offers, 'offer') }),
  }));
  if (!message.publishDirectives) return { catalogs };
  const publishDirectives = message.publishDirectives.slice(0, catalogs.length).map((directive, index) => {
    const { resourceDirectives, ...rest } = { ...directive, catalogId: `catalog-${index}` };
    if (!resourceDirectives || rest.catalogType === 'MASTER') return rest;
    const entries = resourceDirectives.slice(0, catalogs[index]?.resources?.length ?? 0).map((entry, at) => ({
      ...entry,
      resourceId: `resource-${at}`,
      extends: { masterResourceId: `master-${at}` },
    }));
    return { ...rest, resourceDirectives: entries };
  });
  return { catalogs, publishDirectives };
}

function numbered<T extends { id: string }>(items: T[], prefix: string): T[] {
  return items.map((item, index) => ({ ...item, id: `${prefix}-${index}` }));
}

/** The paths of all members that the schema requires and the value has. */
function requiredMembers(schema: TSchema, value: unknown, at: Segments = []): Segments[] {
  if (Type.IsArray(schema) && Array.isArray(value)) {
    return value.flatMap((item, index) => requiredMembers(schema.items, item, [...at, index]));
  }
  if (!Type.IsObject(schema) || 'x-geojson' in schema) return [];
  const members = value as Record<string, unknown>;
  return Object.entries(schema.properties).flatMap(([name, known]) => {
    if (!Object.hasOwn(members, name)) return [];
    const here = [...at, name];
    const inner = requiredMembers(known, members[name], here);
    return Type.IsOptional(known) ? inner : [here, ...inner];
  });
}
