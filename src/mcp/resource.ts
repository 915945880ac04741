import { type Static, Type } from '../protocol/type.ts';
import { dataNotice, fitAnswer } from './answer.ts';
import { decodeId } from './clean.ts';
import { type Found, findAvailability, findPrices } from './client.ts';
import { Described, describeHit, describePrice, Fields, gather, listFields, Prices } from './hits.ts';
import { At, idPart, joinParts } from './question.ts';
import { type McpContext, type Tool, type ToolAnswer, ToolError } from './tool.ts';

const Id = Type.String({ minLength: 1, maxLength: 600, description: 'As a hit of search_network has it.' });

const Input = Type.Object(
  {
    id: Id,
    node: Type.Optional(Id),
    catalogId: Type.Optional(Id),
    at: Type.Optional(At),
    prove: Type.Optional(
      Type.Boolean({
        description: 'Compares it with the files that its provider has signed, and lists these.',
      }),
    ),
  },
  { additionalProperties: false },
);

const OfferAnswer = Type.Object({
  id: Type.String(),
  name: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  applies: Type.Boolean({ description: 'At the time asked for.' }),
  prices: Prices,
  fields: Fields,
});

const ProofAnswer = Type.Object({
  status: Type.String(),
  reason: Type.String(),
  node: Type.Optional(Type.String()),
  catalogId: Type.String(),
  resourceId: Type.String(),
  version: Type.Optional(Type.Integer()),
  files: Type.Array(
    Type.Object({ document: Type.String(), url: Type.String(), digest: Type.Optional(Type.String()) }),
    { description: 'Anybody can fetch and verify them: examples/python/signpost.py does.' },
  ),
  differences: Type.Array(Type.String()),
  otherOffers: Type.Array(Type.String()),
});

const Output = Type.Object({
  resource: Described,
  fields: Fields,
  offers: Type.Array(OfferAnswer),
  proof: Type.Optional(ProofAnswer),
  advice: Type.Optional(Type.String({ description: 'What was left out.' })),
});

export const resourceTool: Tool<typeof Input, typeof Output> = {
  name: 'get_resource',
  title: 'Get one resource',
  description: `Everything about one hit of search_network: all attributes, and all offers with prices and times. With prove, whether the files that the provider has signed say the same. Give id, node and catalogId of the hit, unchanged. ${dataNotice}`,
  input: Input,
  output: Output,
  call: getResource,
};

/** A resource id is in few catalogs. */
const maxSame = 20;
const maxFields = 80;
const maxOffers = 12;
const maxListed = 10;

async function getResource(
  input: Static<typeof Input>,
  context: McpContext,
  signal: AbortSignal,
): Promise<ToolAnswer<Static<typeof Output>>> {
  const at = input.at === undefined ? context.now() : new Date(input.at);
  const intent = joinParts([idPart(decodeId(input.id))]);
  const { found, signer } = await gather(context, { intent, limit: maxSame }, signal);
  const isAsked = (given: string | undefined, value = '') =>
    given === undefined || decodeId(given).includes(value);
  const same = found.filter(
    ({ catalog }) => isAsked(input.catalogId, catalog.id) && isAsked(input.node, catalog.bppId),
  );
  const [hit] = same;
  if (!hit)
    throw new ToolError(
      'The discovery service has no such resource now. Give id, node and catalogId of a hit, unchanged; why_not_found examines a node.',
    );
  const proof = input.prove ? await context.createProver(signal)(hit) : undefined;
  const fields = listFields({ ...hit.resource, id: undefined });
  const offers = describeOffers(hit, at);
  return fitAnswer([maxFields, 50, 30, 20, 12, 6, 3, 1, 0], (size) => ({
    resource: { ...describeHit(hit, { at, signer, proof }), facts: [] },
    fields: fields.slice(0, size),
    offers: offers
      .slice(0, Math.min(size, maxOffers))
      .map((offer) => ({ ...offer, fields: offer.fields.slice(0, size) })),
    proof: proof && {
      ...proof,
      files: proof.files.slice(0, maxListed),
      differences: proof.differences.slice(0, maxListed),
      otherOffers: proof.otherOffers.slice(0, maxListed),
    },
    advice: advise(fields.length - size, offers.length - Math.min(size, maxOffers), same.length - 1),
  }));
}

function advise(fields: number, offers: number, others: number): string | undefined {
  const left = [...(fields > 0 ? [`${fields} attributes`] : []), ...(offers > 0 ? [`${offers} offers`] : [])];
  const advice = [
    ...(left.length > 0 ? [`Left out for length: ${left.join(' and ')}.`] : []),
    ...(others > 0 ? [`${others} other catalogs have this id: give node and catalogId.`] : []),
  ];
  return advice.length > 0 ? advice.join(' ') : undefined;
}

function describeOffers(hit: Found, at: Date): Static<typeof OfferAnswer>[] {
  const applying = findAvailability(hit, at).offers;
  return hit.offers.map((offer) => ({
    id: offer.id,
    name: offer.descriptor?.name,
    description: offer.descriptor?.shortDesc,
    applies: applying.includes(offer),
    prices: findPrices([offer]).slice(0, maxListed).map(describePrice),
    fields: listFields({ validity: offer.validity, ...offer.offerAttributes }),
  }));
}
