import { type Static, Type } from '../protocol/type.ts';
import { findAvailability } from '../rules/hit.ts';
import { findPrices } from '../rules/prices.ts';
import { dataNotice, fitAnswer } from './answer.ts';
import { decodeId } from './clean.ts';
import type { Found } from './client.ts';
import { Described, describeHit, describePrice, Fields, listFields, Prices } from './describe-hit.ts';
import { gather } from './hits.ts';
import { At, idPart, joinParts, readTime } from './question.ts';
import { defineTool, ToolError } from './tool.ts';

const Id = Type.String({ minLength: 1, maxLength: 600, description: 'As in a hit of search_network.' });

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
  applies: Type.Boolean({ description: 'At the given time.' }),
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
    { description: 'Anyone can fetch and verify them: examples/python/signpost.py does.' },
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

/** Few catalogs share a resource id. */
const maxSame = 20;
const maxFields = 80;
const maxOffers = 12;
const maxListed = 10;

export const resourceTool = defineTool({
  name: 'get_resource',
  title: 'Get one resource',
  description: `Everything about one hit of search_network: all attributes, and all offers with prices and times. With prove, whether the files that the provider has signed say the same. Give id, node and catalogId of the hit, unchanged. ${dataNotice}`,
  input: Input,
  output: Output,
  async call(input, context, signal) {
    const at = readTime(input, context);
    const intent = joinParts([idPart(decodeId(input.id))]);
    const { found, signer } = await gather(context, { intent, limit: maxSame }, signal);
    const isAsked = (given: string | undefined, value = '') =>
      given === undefined || decodeId(given).includes(value);
    const [hit, ...others] = found.filter(
      ({ catalog }) => isAsked(input.catalogId, catalog.id) && isAsked(input.node, catalog.bppId),
    );
    if (!hit)
      throw new ToolError(
        'The discovery service has no such resource now. Give id, node and catalogId of a hit, unchanged; why_not_found examines a node.',
      );
    const proof = input.prove ? await context.createProver(signal)(hit) : undefined;
    const fields = listFields({ ...hit.resource, id: undefined });
    const offers = describeOffers(hit, at);
    return fitAnswer([maxFields, 50, 30, 20, 12, 6, 3, 1, 0], (size) => {
      const shown = offers.slice(0, Math.min(size, maxOffers));
      const listed = Math.min(size, maxListed);
      return {
        resource: { ...describeHit(hit, { at, signer, proof }), facts: [] },
        fields: fields.slice(0, size),
        offers: shown.map((offer) => ({ ...offer, fields: offer.fields.slice(0, size) })),
        proof: proof && {
          ...proof,
          files: proof.files.slice(0, maxListed),
          differences: proof.differences.slice(0, listed),
          otherOffers: proof.otherOffers.slice(0, listed),
        },
        advice: advise([
          [fields.length - size, 'attributes were left out for length.'],
          [offers.length - shown.length, 'offers were left out for length.'],
          [
            (proof?.files.length ?? 0) - maxListed,
            'files of the proof, the latest changes, were left out for length.',
          ],
          [others.length, 'other catalogs have this id: give node and catalogId.'],
        ]),
      };
    });
  },
});

function advise(counts: readonly [number, string][]): string | undefined {
  const advice = counts.filter(([count]) => count > 0).map(([count, says]) => `${count} ${says}`);
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
