import type { JsonObject } from '../../../src/protocol/json.ts';
import { createAttributeChecker, type DomainSchema } from '../../../src/rules/typed-attributes.ts';

// A schema of coffee, and attributes of its type.

export const coffee: DomainSchema = {
  address: 'https://schema.nfh.global/Coffee/v1.1/schema.json',
  document: {
    $id: 'https://schema.nfh.global/Coffee/v1.1/schema.json',
    type: 'object',
    required: ['origin'],
    properties: { origin: { type: 'string' }, grams: { type: 'number' } },
    additionalProperties: false,
  },
};

export function typed(
  members: JsonObject,
  context = 'https://schema.nfh.global/Coffee/v1.1/context.jsonld',
): JsonObject {
  return { '@context': context, '@type': 'Coffee', ...members };
}

/** The paths of all faults in attributes. */
export function faultsOf(
  schemas: DomainSchema[],
  attributes: JsonObject,
  partial = false,
): (string | undefined)[] {
  return createAttributeChecker({ schemas })
    .check(attributes, { partial })
    .map(({ details }) => details?.path);
}
