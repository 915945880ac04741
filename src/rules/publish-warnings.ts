import { refusalAt, type Segments } from '../protocol/fault.ts';
import type { PublishWarning } from '../protocol/publish-messages.ts';
import { checkCatalog } from './check-attributes.ts';
import { type Dropped, noteDropped } from './strict-form.ts';
import { resourceIdsOf, type Submission } from './submission.ts';
import type { AttributeChecker } from './typed-attributes.ts';

// Probable mistakes in a published catalog that are not errors: they affect neither the status nor the content (protocol decision: publish).

const maxWarnings = 100;

/** Attributes under an `@context` without a known schema, if a known one is close: they are neither checked nor found by that schema. */
export function findContextWarnings(
  { catalog, at }: Submission,
  { findClose }: Pick<AttributeChecker, 'findClose'>,
): PublishWarning[] {
  const places = new Map<string, Segments>();
  const note = ({ '@context': context }: Readonly<Record<string, unknown>>, where?: { at?: Segments }) => {
    if (typeof context === 'string' && places.size < maxWarnings && !places.has(context))
      places.set(context, [...(where?.at ?? []), '@context']);
    return [];
  };
  checkCatalog(catalog, { check: note }, { at, skipsGeometries: true });
  return [...places].flatMap(([context, place]) => {
    const close = findClose(context);
    const problem = `is ${context}, for which no schema is known: the attributes are not checked. Did you mean ${close}?`;
    return close === undefined ? [] : warningAt(place, problem);
  });
}

/** Resources that offers of a catalog name and that no catalog of the message has: storage may have them. */
export function offeredElsewhere(submission: Submission, message: readonly Submission[]): string[] {
  const named = new Set(submission.catalog.offers?.flatMap(({ resourceIds = [] }) => resourceIds));
  for (const part of named.size > 0 ? [submission, ...message] : [])
    for (const id of resourceIdsOf(part)) named.delete(id);
  return [...named].slice(0, maxAskedIds);
}

/** A catalog of only offers may name many foreign resources; looking up all of them would take longer than storing the offers. */
const maxAskedIds = 1_000;

/** Each id once, at its first path. */
export function findOfferWarnings({ catalog, at }: Submission, unknownIds: ReadonlySet<string>) {
  const untold = new Set(unknownIds);
  return (catalog.offers ?? []).flatMap(({ resourceIds = [] }, offerIndex) => {
    const warn = (id: string, index: number) =>
      warningAt(
        [...at, 'offers', offerIndex, 'resourceIds', index],
        `is ${id}, which no catalog of yours has`,
      );
    return resourceIds.flatMap((id, index) => (untold.delete(id) ? warn(id, index) : []));
  });
}

/** Offers that no search uses: a catalog is searched only with its own offers, and its offers are only attached to resources of other catalogs. `foreignIds` are named by offers and not in the catalog. */
export function findCoverWarnings(
  { catalog, at, catalogType }: Submission,
  { foreignIds, unknownIds, isWhole }: ForeignResources,
): PublishWarning[] {
  const { offers = [], resources = [], provider } = catalog;
  if (catalogType === 'MASTER' || offers.length === 0) return [];
  const says = 'searches ignore it, and list it only with resources of your other catalogs';
  if (isWhole && resources.length === 0)
    return [warningAt([...at, 'offers'], `is in a catalog without resources: ${says}`)];
  return offers.flatMap(({ resourceIds = [], provider: named }, index) => {
    const isForeign = resourceIds.length > 0 && resourceIds.every((id) => foreignIds.has(id));
    if (isForeign && !resourceIds.every((id) => unknownIds.has(id)))
      return warningAt([...at, 'offers', index, 'resourceIds'], `names no resource of this catalog: ${says}`);
    const isOther = resourceIds.length === 0 && named !== undefined && provider && named.id !== provider.id;
    const where = [...at, 'offers', index, 'provider', 'id'];
    return isOther ? warningAt(where, `is not the provider of this catalog: ${says}`) : [];
  });
}

interface ForeignResources {
  foreignIds: ReadonlySet<string>;
  unknownIds: ReadonlySet<string>;
  isWhole: boolean;
}

/** Networks of a submission that are neither the default one nor the publisher's: they may still have subscribers. */
export function strangeNetworks(
  { networkIds }: Submission,
  known: { defaultNetworkId: string; networkMemberships: readonly string[] },
): string[] {
  const { defaultNetworkId, networkMemberships } = known;
  return networkIds.filter((id) => id !== defaultNetworkId && !networkMemberships.includes(id));
}

export function findNetworkWarnings({ directiveAt = [] }: Submission, unknownNetworks: readonly string[]) {
  const where = [...directiveAt, 'visibleTo'];
  const problem = 'you are not a member of it, and nobody subscribes to it';
  return unknownNetworks.map((networkId) => warningAt(where, `names ${networkId}: ${problem}`));
}

/** A price outside considerationAttributes is not shown or found. Each name once, at its first path. */
export function findConsiderationWarnings({ catalog, at }: Submission): PublishWarning[] {
  const first = new Map<string, Segments>();
  for (const [index, { considerations = [] }] of (catalog.offers ?? []).entries())
    for (const [place, consideration] of considerations.entries())
      for (const name of Object.keys(consideration))
        if (!considerationMembers.includes(name) && first.size < maxWarnings && !first.has(name))
          first.set(name, [...at, 'offers', index, 'considerations', place, name]);
  const problem =
    'is not a member of a consideration, which has id, status and considerationAttributes: put a price in considerationAttributes';
  return Array.from(first.values(), (where) => warningAt(where, problem));
}

const considerationMembers = ['id', 'status', 'considerationAttributes'];

/** Members that receivers with closed schemas do not get (strict-form.ts), each once, at its first path. A rating is no mistake: only the schemas of deployed receivers lack it. */
export function findStrictWarnings({ catalog, at }: Submission): PublishWarning[] {
  const first = new Map<string, Dropped>();
  noteDropped(catalog, at, (dropped) => {
    const name = 'member' in dropped ? `${dropped.object}.${dropped.member}` : dropped.object;
    if (name !== 'Provider.rating' && first.size < maxWarnings && !first.has(name)) first.set(name, dropped);
  });
  return [...first.values()].map((dropped) =>
    warningAt(
      dropped.at,
      'member' in dropped
        ? `is not a known member of ${dropped.object}: receivers with closed schemas do not get it`
        : `${dropped.problem}: receivers with closed schemas do not get this ${dropped.object}`,
    ),
  );
}

export function limitWarnings(warnings: readonly PublishWarning[]): PublishWarning[] {
  const more = warnings.length - maxWarnings;
  if (more <= 0) return [...warnings];
  return [...warnings.slice(0, maxWarnings), { message: `${more} more warnings are not listed` }];
}

function warningAt(segments: Segments, problem: string): PublishWarning {
  const { code: _, ...warning } = refusalAt(segments, problem);
  return warning;
}
