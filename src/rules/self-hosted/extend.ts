import type { Resource } from '../../protocol/catalog.ts';
import { jsonPath } from '../../protocol/json.ts';
import { type Check, checkResource } from '../check-attributes.ts';
import {
  type Extension,
  type MasterResource,
  networksMeet,
  type StoredExtension,
  type Template,
} from '../extends.ts';
import { inherit } from '../inherit.ts';
import { describeExcess, fitTemplate, type InheritanceBudget } from '../inherited-bytes.ts';
import { TrustFault } from './faults.ts';

// Resources in a node's files that extend those of a MASTER catalog (self-hosted spec: "template values are immutable and inherited as they are").
// Here a value that contradicts the template does not cause a refusal of the catalog: the template's value wins, and the difference is reported.

export interface HostedMaster extends Omit<MasterResource, 'owner'> {
  owner: string;
  catalogId: string;
}

export interface Extender {
  node: string;
  networkIds: readonly string[];
  /** The owners of the MASTER catalogs that the catalog's entry declares, by their catalogIds. */
  declared: ReadonlyMap<string, string>;
}

/**
 * The template of a resource, from a MASTER catalog that shares a network: a declared one before one of the node itself before any other; of several,
 * the resource's current one, else the first. A resource that has lost its template keeps what it inherited last.
 */
export function findHostedTemplate(
  masterResourceId: string,
  candidates: readonly HostedMaster[],
  { node, networkIds, declared }: Extender,
  stored: StoredExtension | undefined,
): Template | undefined {
  const last = stored?.extension.extends.masterResourceId === masterResourceId ? stored.template : undefined;
  const distance = ({ owner, catalogId, catalogKey }: HostedMaster) => {
    const place = declared.get(catalogId) === owner ? 0 : owner === node ? 1 : 2;
    return 2 * place + (catalogKey === last?.catalogKey ? 0 : 1);
  };
  const near = candidates.filter((candidate) => networksMeet(candidate.networkIds, networkIds));
  const [first] = near.sort((one, other) => distance(one) - distance(other));
  return first ?? last;
}

export interface ExtendingResource {
  own: Resource;
  extension: Extension;
  template: Template;
}

/** Counts inherited bytes. If a template has grown too large, the last inherited content counts. Returns the first resource above a limit, and why. */
export function boundTemplates(
  extending: readonly ExtendingResource[],
  budget: InheritanceBudget,
  stored: ReadonlyMap<string, StoredExtension> = new Map(),
): string | undefined {
  for (const one of extending) {
    const fitting = fitTemplate(one.template, stored.get(one.own.id)?.template, budget);
    if ('scope' in fitting) return `${one.own.id} ${describeExcess(fitting, one.template)}`;
    one.template = fitting;
  }
  return undefined;
}

export interface ExtendedResource extends ExtendingResource {
  assembled: Resource;
  /** Where it differs from its template, as JSONPaths. */
  overridden: string[];
}

export function extendTemplate(extending: ExtendingResource, content: Resource): ExtendedResource {
  const { assembled, overridden } = inherit(extending.own, content);
  return { ...extending, assembled, overridden: overridden.map(({ segments }) => jsonPath(segments)) };
}

/** "A file fails the domain schema check: discard; never partially apply" (self-hosted spec: Errors). */
export function conforming(extended: ExtendedResource, file: 'baseline' | 'change', checker: Check) {
  const { assembled, extension } = extended;
  // With its geometries: one may combine an inherited type with coordinates that are not inherited.
  const [first] = checkResource(assembled, checker, { brief: true });
  if (first === undefined) return extended;
  const message = `With what it inherits from ${extension.extends.masterResourceId}, ${assembled.id} does not conform: ${first.message}.`;
  throw new TrustFault(file, 'schema-violation', message);
}
