import { type Static, Type } from '../protocol/type.ts';
import { dataNotice, fitAnswer } from './answer.ts';
import { decodeId, quote } from './clean.ts';
import { gather, narrow } from './hits.ts';
import { idPart, joinParts, listParts, type Part, questionMembers } from './question.ts';
import type { Diagnosis, McpContext, Tool, ToolAnswer, Trouble } from './tool.ts';

const Input = Type.Object(
  {
    ...questionMembers,
    id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 600,
        description: 'A resource: which part of the question excludes it?',
      }),
    ),
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
    description: 'Hits of the question as it is; of a node, catalogs that can be found.',
  }),
  reasons: Type.Array(Type.String(), { description: 'The most telling first.' }),
  parts: Type.Array(
    Type.Object({
      part: Type.String(),
      hits: Type.Integer({
        description: 'Without this part. With id: of the resource, with this part alone.',
      }),
    }),
  ),
});
type Output = Static<typeof Output>;

export const whyTool: Tool<typeof Input, typeof Output> = {
  name: 'why_not_found',
  title: 'Why was it not found?',
  description: `Says why a search found nothing, or not what was expected. Give the arguments of the search: it asks again without each part, so that you see what to relax. With id, it says which part excludes that resource. With node, and catalogId, it examines what that provider publishes, and says what its operator has to mend. ${dataNotice}`,
  input: Input,
  output: Output,
  call: explainAbsence,
};

const maxReasons = 20;

async function explainAbsence(
  input: Static<typeof Input>,
  context: McpContext,
  signal: AbortSignal,
): Promise<ToolAnswer<Output>> {
  const explanation = await explain(input, context, signal);
  return fitAnswer([maxReasons, 10, 4, 1, 0], (size) => ({
    ...explanation,
    reasons: explanation.reasons.slice(0, size),
  }));
}

async function explain(
  input: Static<typeof Input>,
  context: McpContext,
  signal: AbortSignal,
): Promise<Output> {
  const { node, id, network, catalogId } = input;
  if (node !== undefined) return describeDiagnosis(await context.diagnose(node, { catalogId, network }));
  const count: Count = async (parts) => {
    const { found, total } = await gather(context, { intent: joinParts(parts), network, limit: 1 }, signal);
    return total ?? found.length;
  };
  if (id !== undefined) return probe(idPart(decodeId(id)), listParts(input), count);
  const asked = { intent: joinParts(listParts(input)), network };
  const { found, nothing } = await gather(context, asked, signal);
  const at = input.at === undefined ? context.now() : new Date(input.at);
  const dropped = found.length - narrow(found, input, at).length;
  const { reasons, parts } = await relax(listParts(input), found.length, count);
  return {
    found: found.length - dropped,
    reasons: [
      ...(dropped > 0 ? [`Price and availability exclude ${dropped} of ${found.length} hits.`] : []),
      ...(nothing === undefined ? [] : [`The service says: ${quote(nothing)}`]),
      ...reasons,
    ],
    parts,
  };
}

type Count = (parts: readonly Part[]) => Promise<number>;

/** The question without each of its parts. */
async function relax(parts: readonly Part[], found: number, count: Count): Promise<Omit<Output, 'found'>> {
  const without = await Promise.all(
    parts.map(async (part) => ({
      part: part.says,
      hits: await count(parts.filter((other) => other !== part)),
    })),
  );
  const helpful = without.filter(({ hits }) => hits > found).sort((one, other) => one.hits - other.hits);
  const reasons = helpful.map(({ part, hits }) => `Without ${quote(part)} there are ${hits} hits.`);
  const isStuck = found === 0 && helpful.length === 0;
  return {
    reasons: isStuck ? ['No part alone excludes everything: leave out several.'] : reasons,
    parts: without,
  };
}

/** One resource, with each part of the question alone. */
async function probe(resource: Part, parts: readonly Part[], count: Count): Promise<Output> {
  const found = await count([resource]);
  if (found === 0)
    return {
      found,
      reasons: ['The service has no resource with this id. Call again with its node.'],
      parts: [],
    };
  const alone = await Promise.all(
    parts.map(async (part) => ({ part: part.says, hits: await count([resource, part]) })),
  );
  const reasons = alone
    .filter(({ hits }) => hits === 0)
    .map(({ part }) => `The resource does not match ${quote(part)}.`);
  const matches = 'It matches text, place and filters: look at price, availability and the page.';
  return {
    found: reasons.length > 0 ? 0 : found,
    reasons: reasons.length > 0 ? reasons : [matches],
    parts: alone,
  };
}

function describeDiagnosis({ appearing, faults, hidden, warnings }: Diagnosis): Output {
  const tell = (word: string, troubles: readonly Trouble[]) =>
    troubles
      .slice(0, maxReasons)
      .map(({ message, hint }) => `${word}: ${quote(message)} Its operator: ${quote(hint)}`);
  const names = appearing.slice(0, maxReasons).map(quote).join(', ');
  return {
    found: appearing.length,
    reasons: [
      ...tell('Broken', faults),
      ...tell('Hidden on purpose', hidden),
      ...(names === '' ? [] : [`Catalogs that can be found: ${names}.`]),
      ...tell('Warning', warnings),
    ],
    parts: [],
  };
}
