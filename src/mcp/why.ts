import { type Static, Type } from '../protocol/type.ts';
import { dataNotice, fitAnswer } from './answer.ts';
import { decodeId, quote } from './clean.ts';
import { gather, narrow } from './hits.ts';
import { joinParts, listParts, type Part, questionMembers, readTime } from './question.ts';
import { type Diagnosis, defineTool, type McpContext, type Trouble } from './tool.ts';

const Input = Type.Object(
  {
    ...questionMembers,
    node: Type.Optional(
      Type.String({
        ...{ maxLength: 300, pattern: '^[A-Za-z0-9._:~/-]+$' },
        description: 'subscriberId of a provider: examines what it publishes. The question is ignored.',
      }),
    ),
    catalogId: Type.Optional(Type.String({ maxLength: 600, description: 'With node: only this catalog.' })),
  },
  { additionalProperties: false },
);

const Output = Type.Object({
  found: Type.Integer({
    description: 'Hits of the question as given; for a node, catalogs that can be found.',
  }),
  reasons: Type.Array(Type.String(), { description: 'The most informative first.' }),
});
type Output = Static<typeof Output>;

const maxReasons = 20;

export const whyTool = defineTool({
  name: 'why_not_found',
  title: 'Why was it not found?',
  description: `Says why a search found nothing, or not what was expected. Give the arguments of the search: it asks again without each part, so that you see what to relax. To see which part excludes one resource, add a filter on its id. With node, and catalogId, it examines what that provider publishes, and says what its operator has to fix. ${dataNotice}`,
  input: Input,
  output: Output,
  async call(input, context, signal) {
    const { found, reasons } = await explain(input, context, signal);
    return fitAnswer([maxReasons, 10, 4, 1, 0], (size) => ({ found, reasons: reasons.slice(0, size) }));
  },
});

async function explain(input: Static<typeof Input>, context: McpContext, signal: AbortSignal) {
  const { node, network, catalogId } = input;
  if (node !== undefined) {
    const asked = { catalogId: catalogId && decodeId(catalogId).at(-1), network };
    return describeDiagnosis(await context.diagnose(node, asked));
  }
  const parts = listParts(input);
  const count: Count = async (some) => {
    const { found, total } = await gather(context, { intent: joinParts(some), network, limit: 1 }, signal);
    return total ?? found.length;
  };
  const { found, total, nothing } = await gather(context, { intent: joinParts(parts), network }, signal);
  const remaining = narrow(found, input, readTime(input, context)).length;
  const dropped = found.length - remaining;
  return {
    found: remaining,
    reasons: [
      ...(dropped > 0 ? [`Price and availability exclude ${dropped} of ${found.length} hits.`] : []),
      ...(nothing === undefined ? [] : [`The service says: ${quote(nothing)}`]),
      ...(await relax(parts, total ?? found.length, count)),
    ],
  };
}

type Count = (parts: readonly Part[]) => Promise<number>;

async function relax(parts: readonly Part[], found: number, count: Count): Promise<string[]> {
  const without = await Promise.all(
    parts.map(async (part) => ({ part, hits: await count(parts.filter((other) => other !== part)) })),
  );
  const helpful = without.filter(({ hits }) => hits > found).sort((one, other) => one.hits - other.hits);
  if (found === 0 && helpful.length === 0) return ['No part alone excludes everything: leave out several.'];
  return helpful.map(({ part, hits }) => `Hits without ${quote(part.says)}: ${hits}.`);
}

function describeDiagnosis({ appearing, faults, hidden, warnings }: Diagnosis): Output {
  const explainAll = (word: string, troubles: readonly Trouble[]) =>
    troubles
      .slice(0, maxReasons)
      .map(({ message, hint }) => `${word}: ${quote(message)} Its operator: ${quote(hint)}`);
  const names = appearing.slice(0, maxReasons).map(quote).join(', ');
  return {
    found: appearing.length,
    reasons: [
      ...explainAll('Broken', faults),
      ...explainAll('Hidden on purpose', hidden),
      ...(names === '' ? [] : [`Catalogs that can be found: ${names}.`]),
      ...explainAll('Warning', warnings),
    ],
  };
}
