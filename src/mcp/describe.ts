import { describeFields } from '../console/describe-fields.ts';
import { addTo } from '../group.ts';
import type { JsonObject } from '../protocol/json.ts';
import { type Static, Type } from '../protocol/type.ts';
import { findPrices } from '../rules/prices.ts';
import { dataNotice, fitAnswer } from './answer.ts';
import { quote } from './clean.ts';
import type { Found } from './client.ts';
import { gather, maxGathered } from './hits.ts';
import { joinParts, listParts, questionMembers } from './question.ts';
import { defineTool, ToolError } from './tool.ts';

const { text, type, network } = questionMembers;
const Input = Type.Object({ text, type, network }, { additionalProperties: false });

const Output = Type.Object({
  sampled: Type.Integer({ description: 'How many resources were read.' }),
  total: Type.Optional(Type.Integer({ description: 'How many there are; above 1000 a lower bound.' })),
  types: Type.Array(
    Type.Object({
      type: Type.String({ description: 'For type of search_network.' }),
      resources: Type.Integer({ description: 'In the sample.' }),
      example: Type.String(),
      fields: Type.Array(
        Type.Object({
          field: Type.String({ description: 'For filters of search_network.' }),
          kind: Type.String({ description: 'number, boolean, text, or enum: these values occur.' }),
          unit: Type.Optional(Type.String()),
          min: Type.Optional(Type.Number()),
          max: Type.Optional(Type.Number()),
          values: Type.Optional(Type.Array(Type.String())),
        }),
      ),
    }),
  ),
  currencies: Type.Array(Type.String()),
});

const maxTypes = 8;
const maxValues = 8;

export const describeTool = defineTool({
  name: 'describe_network',
  title: 'Describe the network',
  description: `What is offered, from a sample of up to ${maxGathered} resources: their types, and the fields to filter by in search_network, with units and values that occur. Call it before the first search with filters; text narrows the sample, e.g. to "charger". Every resource also has the fields descriptor.name, descriptor.shortDesc and id. ${dataNotice}`,
  input: Input,
  output: Output,
  async call(input, context, signal) {
    const asked = { intent: joinParts(listParts(input)), network: input.network };
    const { found, total, nothing = '' } = await gather(context, asked, signal);
    if (found.length === 0) throw new ToolError(`Nothing matches. The service says: ${quote(nothing)}`);
    const types = groupByType(found).slice(0, maxTypes).map(describeType);
    const currencies = new Set(
      found.flatMap(({ offers }) => findPrices(offers).map(({ currency }) => currency)),
    );
    return fitAnswer([40, 30, 20, 15, 10, 6, 3, 0], (size) => ({
      ...{ sampled: found.length, total },
      types: types.map((each) => ({ ...each, fields: each.fields.slice(0, size) })),
      currencies: [...currencies].slice(0, maxValues),
    }));
  },
});

function groupByType(found: readonly Found[]): [type: string, hits: Found[]][] {
  const groups = new Map<string, Found[]>();
  for (const hit of found) addTo(groups, hit.resource.resourceAttributes?.['@type'] ?? '', hit);
  return [...groups].sort(([, one], [, other]) => other.length - one.length);
}

function describeType([name, hits]: [string, Found[]]): Static<typeof Output>['types'][number] {
  const documents = hits.map(({ resource }) => resource as object as JsonObject);
  return {
    type: name,
    resources: hits.length,
    example: hits[0]?.resource.descriptor?.name ?? '',
    fields: describeFields(documents, ['resourceAttributes']).map(
      ({ path, kind, unit, min, max, values }) => ({
        ...{ field: path.replace(/^@\./, ''), kind, unit, min, max },
        values: values?.slice(0, maxValues).map(({ value }) => value),
      }),
    ),
  };
}
