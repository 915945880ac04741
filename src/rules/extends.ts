import type { Resource } from '../protocol/catalog.ts';
import type { ResourceDirective } from '../protocol/publish-messages.ts';

// Which template, and which variant of it, a resource inherits from (catalog spec: resourceDirectives).

/** The master and variant of a resource: its directive without the resource's id. */
export type Extension = Omit<ResourceDirective, 'resourceId'>;

/** The master resource that a resource inherits from, without its content, which may be large and is loaded separately. */
export interface Template {
  id: string;
  catalogKey: number;
  version: number;
  /** Identifies the content of the template. Stored with the inheriting resource, because the master may drop it. */
  edition: number;
  bytes: number;
}

export interface MasterResource extends Template {
  /** Undefined after an operator released the catalog. */
  owner: string | undefined;
  networkIds: readonly string[];
}

export type TemplateContents = ReadonlyMap<string, Resource>;

export function templateKey({ catalogKey, edition, id }: Template): string {
  return `${catalogKey} ${edition} ${id}`;
}

export function contentOf(template: Template, contents: TemplateContents): Resource {
  const content = contents.get(templateKey(template));
  if (content === undefined) throw new Error(`the content of the template ${template.id} is missing`);
  return content;
}

/** A rule that requests the contents of templates by `yield`, some at a time, so that memory never holds all of them. */
export type WithTemplates<T> = Generator<readonly Template[], T, TemplateContents>;

export interface StoredExtension {
  extension: Extension;
  template: Template;
}

interface TemplateQuestion {
  masterResourceId: string;
  /** Whether this request names it, or the resource keeps it from an earlier one. */
  isGiven: boolean;
  networkIds: readonly string[];
  /** The MASTER resources with that id, in the order of first publication. */
  candidates: readonly MasterResource[];
  stored: StoredExtension | undefined;
}

/**
 * The template: of a MASTER catalog that shares a network with the publishing one; of several, the current one of the resource, else the first
 * published. A resource keeps its inherited values if its master has dropped it, or if it does not repeat a directive for a master of other networks.
 */
export function findTemplate(question: TemplateQuestion): Template | undefined {
  const { masterResourceId, isGiven, networkIds, candidates, stored } = question;
  const last = stored?.extension.extends.masterResourceId === masterResourceId ? stored.template : undefined;
  const isLast = ({ catalogKey }: Template) => catalogKey === last?.catalogKey;
  const near = candidates.filter((candidate) => sharesNetwork(candidate.networkIds, networkIds));
  return near.find(isLast) ?? near[0] ?? (isGiven && candidates.some(isLast) ? undefined : last);
}

export function sharesNetwork(one: readonly string[], other: readonly string[]): boolean {
  return one.some((networkId) => other.includes(networkId));
}

/** Whether two crawled catalogs share a network. A catalog that names none is in every network. */
export function networksMeet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === 0 || other.length === 0 || sharesNetwork(one, other);
}

/** The key that must be unique in a catalog: the master resource with the variant's type and id. Undefined without a variant. */
export function variantKey({ extends: { masterResourceId }, variant }: Extension): string | undefined {
  return variant && JSON.stringify([masterResourceId, variant.type, variant.id]);
}

export interface Claim {
  id: string;
  extension: Extension | undefined;
  isGiven: boolean;
}

/**
 * The resources of a MERGE whose variant another resource of the catalog holds. A refused resource keeps its stored variant, so a claim to that one fails as well: repeated until no claim fails.
 *
 * @param holders for each claimed variant, the resource that is stored with it
 */
export function findTakenVariants(claims: readonly Claim[], holders: ReadonlyMap<string, string>) {
  const refused = new Set<string>();
  const moving = new Set(claims.filter(({ isGiven }) => isGiven).map(({ id }) => id));
  for (let before = -1; before !== refused.size; ) {
    before = refused.size;
    for (const { id, extension } of claims) {
      if (extension === undefined || !moving.has(id)) continue;
      const holder = holders.get(variantKey(extension) ?? '');
      if (holder === undefined || holder === id || moving.has(holder)) continue;
      refused.add(id);
      moving.delete(id);
    }
  }
  return refused;
}
