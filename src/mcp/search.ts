import { type Static, Type } from '../protocol/type.ts';
import { dataNotice, fitAnswer } from './answer.ts';
import { quote } from './clean.ts';
import { Described, describeHit } from './describe-hit.ts';
import { gather, maxGathered, narrow, type Order, sortHits } from './hits.ts';
import { joinParts, listParts, questionMembers, readTime } from './question.ts';
import { defineTool, ToolError } from './tool.ts';

const orders: Order[] = ['relevance', 'price', 'distance'];
const maxProven = 10;

const Input = Type.Object(
  {
    ...questionMembers,
    sort: Type.Optional(Type.Unsafe<Order>({ type: 'string', enum: orders, default: 'relevance' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 25, default: 10 })),
    offset: Type.Optional(
      Type.Integer({ minimum: 0, maximum: maxGathered, description: 'nextOffset of the previous answer.' }),
    ),
    prove: Type.Optional(
      Type.Boolean({
        description: `Compares the hits, ${maxProven} at most, with the files that their providers have signed. Slower.`,
      }),
    ),
  },
  { additionalProperties: false },
);

const Output = Type.Object({
  hits: Type.Array(Described),
  matching: Type.Integer({ description: 'How many of the resources that were read match.' }),
  lookedAt: Type.Integer({ description: `How many resources were read, ${maxGathered} at most.` }),
  total: Type.Optional(
    Type.Integer({ description: 'How many match text, place and filters; above 1000 a lower bound.' }),
  ),
  nextOffset: Type.Optional(Type.Integer({ description: 'Call again with this offset for the next hits.' })),
  advice: Type.Optional(Type.String({ description: 'What to do next.' })),
});

export const searchTool = defineTool({
  name: 'search_network',
  title: 'Search the network',
  description: `Finds what providers of an open network offer: chargers, goods of shops, services. Use it when the user asks where to charge, buy or book something.
Combine any of text, near, type, filters, price and available. Cheapest: sort by price, with available true; prices of the most frequent currency and unit are compared, hits without one come last. Nearest: give near, and sort by distance. For numbers such as power use filters, whose fields describe_network lists, not text.
Example: {"near":{"latitude":12.978,"longitude":77.57,"radiusMeters":2000},"filters":[{"field":"resourceAttributes.attributes.ratedPower.value","operator":">=","value":50}],"available":true,"sort":"price"}
Set prove when the person will rely on the answer. If nothing is found, call why_not_found with the same arguments. ${dataNotice}`,
  input: Input,
  output: Output,
  async call(input, context, signal) {
    const { sort = 'relevance', limit = 10, offset = 0, prove, network, near } = input;
    if (sort === 'distance' && !near) throw new ToolError('Distance from where? Give near as well.');
    const at = readTime(input, context);
    const intent = joinParts(listParts(input));
    const { found, signer, total, nothing } = await gather(context, { intent, network }, signal);
    const matching = sortHits(narrow(found, input, at), sort, input, at);
    const page = matching.slice(offset, offset + (prove ? Math.min(limit, maxProven) : limit));
    const prover = prove ? context.createProver(signal) : undefined;
    const hits = await Promise.all(
      page.map(async (hit) => describeHit(hit, { at, near, signer, proof: await prover?.(hit) })),
    );
    const sizes = Array.from({ length: hits.length + 1 }, (_, index) => hits.length - index);
    return fitAnswer(sizes, (size) => {
      const end = offset + size;
      const nextOffset = size > 0 && end < matching.length ? end : undefined;
      const known = { matching: matching.length, lookedAt: found.length, total, nextOffset };
      return { hits: hits.slice(0, size), ...known, advice: advise(known, nothing) };
    });
  },
});

function advise(
  { matching, lookedAt, total = lookedAt, nextOffset }: Omit<Static<typeof Output>, 'hits' | 'advice'>,
  nothing: string | undefined,
): string | undefined {
  if (lookedAt === 0)
    return `Nothing found.${nothing === undefined ? '' : ` The service says: ${quote(nothing)}`} Call why_not_found with the same arguments.`;
  if (matching === 0)
    return `${lookedAt} resources match text, place and filters, but none the price or availability: widen these.`;
  const isCut = lookedAt >= maxGathered;
  const advice = [
    ...(nextOffset === undefined ? [] : [`Call again with offset ${nextOffset} for more.`]),
    ...(isCut
      ? [`The service has ${total} or more, of which ${lookedAt} were read: narrow the question to see all.`]
      : []),
  ];
  return advice.length > 0 ? advice.join(' ') : undefined;
}
