import type { Catalog, Resource } from '../../../src/protocol/catalog.ts';
import type { PublishDirective } from '../../../src/protocol/publish-messages.ts';
import { type MasterResource, type TemplateContents, templateKey } from '../../../src/rules/extends.ts';
import type { InheritanceLimits } from '../../../src/rules/inherited-bytes.ts';
import { type PublishOutcome, processCatalog } from '../../../src/rules/publish.ts';
import { type Known, type StoredCatalog, submissionsOf } from '../../../src/rules/submission.ts';
import { createAttributeChecker } from '../../../src/rules/typed-attributes.ts';

// A publisher of coffee, for tests of publishing.

const context = 'https://schema.example/Coffee/v1/context.jsonld';
export const typed = { '@context': context, '@type': 'Coffee' };
const checker = createAttributeChecker({
  schemas: [
    {
      address: 'https://schema.example/Coffee/v1/schema.json',
      document: {
        required: ['grams'],
        properties: { grams: { type: 'number', minimum: 0 }, roast: { enum: ['light', 'dark'] } },
      },
    },
  ],
});

export const publisher = {
  identity: 'bpp.example/subscribers.beckn.one',
  recordSubscriberId: 'api.bpp.example',
  registryName: 'subscribers.beckn.one',
  bppId: 'bpp.example',
  bppUri: 'https://bpp.example/beckn',
};
export const somebodyElse = 'other.example/subscribers.beckn.one';

const nothing: Known = {
  extensions: new Map(),
  masters: new Map(),
  variantHolders: new Map(),
  servedIds: new Set(),
  inherited: { catalog: 0, publish: 0, publisher: 0 },
};

/** The default limits, except for small templates. */
export const limits: InheritanceLimits = {
  resource: 1_000,
  catalog: 5_000,
  publish: 10_000,
  publisher: 20_000,
};

export function catalog(members: Partial<Catalog> = {}): Catalog {
  return {
    id: 'c',
    descriptor: { name: 'Catalog' },
    provider: { id: 'p', descriptor: { name: 'Provider' } },
    resources: [coffee('r1')],
    ...members,
  };
}

export function coffee(id: string, attributes: Record<string, unknown> = {}): Resource {
  return { id, resourceAttributes: { ...typed, grams: 250, ...attributes } };
}

export function stored(members: Partial<StoredCatalog> = {}): StoredCatalog {
  return {
    owner: publisher.identity,
    catalogType: 'REGULAR',
    members: {
      id: 'c',
      descriptor: { name: 'Old' },
      provider: { id: 'p', descriptor: { name: 'Provider' } },
    },
    ...members,
  };
}

/** Publishes as the first catalog of a message, with a directive unless it is undefined. */
export function publish(
  submitted: Catalog,
  known: Partial<Known> = {},
  directive?: Partial<PublishDirective>,
): PublishOutcome {
  const [submission] = submissionsOf(
    {
      catalogs: [submitted],
      ...(directive && {
        publishDirectives: [{ catalogId: submitted.id, catalogType: 'REGULAR', ...directive }],
      }),
    },
    'default/network',
  );
  if (submission === undefined) throw new Error('there is one catalog');
  const steps = processCatalog(submission, publisher, { ...nothing, ...known }, { checker, limits });
  let step = steps.next();
  while (!step.done) step = steps.next(contentsOf(step.value as readonly TestMaster[]));
  return step.value;
}

function contentsOf(templates: readonly TestMaster[]): TemplateContents {
  return new Map(templates.map((template) => [templateKey(template), template.content]));
}

/** Code and path of each error of the result. */
export function faults({ result }: PublishOutcome): [string, string | undefined][] {
  return (result.errors ?? []).map(({ code, details }) => [code, details?.path]);
}

/** Ids of the documents to write. */
export function ids(outcome: PublishOutcome): { resources?: string[]; offers?: string[] } {
  return {
    resources: outcome.change?.resources.map(({ id }) => id),
    offers: outcome.change?.offers.map(({ id }) => id),
  };
}

/** With its content, which storage keeps apart. */
export interface TestMaster extends MasterResource {
  content: Resource;
}

export function master(members: Partial<TestMaster> = {}): TestMaster {
  return {
    id: 'm',
    catalogKey: 1,
    version: 7,
    edition: 6,
    bytes: 200,
    owner: somebodyElse,
    networkIds: ['default/network'],
    content: {
      id: 'm',
      descriptor: { name: 'Master', shortDesc: 'short' },
      resourceAttributes: { ...typed, grams: 200 },
    },
    ...members,
  };
}
