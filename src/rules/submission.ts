import type { Attributes, Catalog, CatalogType, Resource } from '../protocol/catalog.ts';
import type { Segments } from '../protocol/fault.ts';
import type { PublishMessage, ResourceDirective } from '../protocol/publish-messages.ts';
import type { Extension, MasterResource, StoredExtension, Template } from './extends.ts';
import type { InheritedBytes } from './inherited-bytes.ts';
import type { CatalogMembers, UpdateMode } from './merge.ts';

// A publish as values: the submission, its publisher, and the stored state.

export interface Submission {
  catalog: Catalog;
  position: number;
  at: Segments;
  directiveAt: Segments | undefined;
  catalogType: CatalogType;
  updateMode: UpdateMode;
  networkIds: string[];
  extensions: ReadonlyMap<string, GivenExtension>;
}

interface GivenExtension {
  extension: Extension;
  at: Segments;
  /** The path of a second directive for the same resource, which contradicts the first. */
  repeatedAt?: Segments;
}

export interface Publisher {
  identity: string;
  recordSubscriberId?: string;
  registryName: string;
  bppId: string;
  bppUri: string;
}

export interface Known {
  stored?: StoredCatalog;
  extensions: ReadonlyMap<string, StoredExtension>;
  /** The relevant master resources by their id, each list in the order of first publication. */
  masters: ReadonlyMap<string, readonly MasterResource[]>;
  /** Which stored resource of the catalog holds a claimed variant. */
  variantHolders: ReadonlyMap<string, string>;
  /** The submitted resources that the catalog serves now. Only known for a FULL, which may remove them. */
  servedIds: ReadonlySet<string>;
  /** A stored master resource of the catalog that belongs to another publisher in a network of the submission. */
  contestedId?: string;
  inherited: InheritedBytes;
}

export interface StoredCatalog {
  /** Undefined after an operator released the id: its next publisher starts with nothing. */
  owner: string | undefined;
  catalogType: CatalogType;
  members: CatalogMembers;
}

export interface ResourceUpsert {
  id: string;
  own: Resource;
  /** JSON text, as sent: a text takes the least memory. Absent if nothing is inherited: then it is `own`. */
  assembled?: string;
  types: Pick<Attributes, '@context' | '@type'> | undefined;
  extension?: Extension;
  template?: Template;
}

/** The catalogs of a message, MASTERs first, so that the others can extend them. Defaults: REGULAR, merged, and for the default network on every publish (catalog spec: publishDirectives). */
export function submissionsOf(message: PublishMessage, defaultNetworkId: string): Submission[] {
  const directives = new Map(
    message.publishDirectives?.map((directive, index) => [directive.catalogId, { directive, index }]),
  );
  const submissions = message.catalogs.map((catalog, position): Submission => {
    const { directive, index } = directives.get(catalog.id) ?? {};
    const directiveAt = index === undefined ? undefined : ['message', 'publishDirectives', index];
    return {
      catalog,
      position,
      at: ['message', 'catalogs', position],
      directiveAt,
      catalogType: directive?.catalogType ?? 'REGULAR',
      updateMode: directive?.updateMode ?? 'MERGE',
      networkIds: [...new Set(directive?.visibleTo ?? [defaultNetworkId])],
      extensions: extensionsOf(directive?.resourceDirectives, directiveAt),
    };
  });
  const isMaster = ({ catalogType }: Submission) => catalogType === 'MASTER';
  return [...submissions.filter(isMaster), ...submissions.filter((one) => !isMaster(one))];
}

/** The resources whose current extensions must be read from storage. */
export function resourceIdsOf({ catalog }: Submission): string[] {
  return catalog.resources?.map(({ id }) => id) ?? [];
}

/** The variants whose current holders in the catalog must be read from storage. */
export function variantsOf({ extensions }: Submission): Required<Extension>[] {
  return [...extensions.values()].flatMap(({ extension: { variant, ...rest } }) =>
    variant === undefined ? [] : { ...rest, variant },
  );
}

/** The master resources to load: those that the request extends, those that its resources still extend, and for a MASTER its own, which another publisher may have published first. */
export function masterResourceIdsOf(submission: Submission, stored: ReadonlyMap<string, StoredExtension>) {
  const { catalogType, extensions } = submission;
  if (catalogType === 'MASTER') return resourceIdsOf(submission);
  const all = [...extensions.values(), ...stored.values()];
  return [...new Set(all.map(({ extension }) => extension.extends.masterResourceId))];
}

function extensionsOf(directives: readonly ResourceDirective[] = [], directiveAt: Segments = []) {
  const given = new Map<string, GivenExtension>();
  for (const [index, { resourceId, ...extension }] of directives.entries()) {
    const at = [...directiveAt, 'resourceDirectives', index];
    const first = given.get(resourceId);
    given.set(resourceId, first ? { ...first, repeatedAt: at } : { extension, at });
  }
  return given;
}
