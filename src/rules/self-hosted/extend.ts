import type { Resource } from '../../protocol/catalog.ts';
import { jsonPath } from '../../protocol/json.ts';
import type { FileDirective } from '../../protocol/signed-files.ts';
import {
  type Extension,
  type MasterResource,
  networksMeet,
  type StoredExtension,
  type Template,
} from '../extends.ts';
import { inherit } from '../inherit.ts';

// Resources in a node's files that extend those of a MASTER catalog (self-hosted spec: "template values are immutable and inherited as they
// are, the REGULAR resource's own added fields take precedence only for fields the template does not define"). Nobody waits for an
// answer here, so that another value than the template's is no reason to refuse the catalog: the template's stands, and it is told.

/** A resource of a MASTER catalog that was crawled. */
export interface HostedMaster extends Omit<MasterResource, 'owner'> {
  /** Identity of the node that publishes it. */
  owner: string;
  catalogId: string;
}

export interface Extender {
  /** Identity of the node whose catalog extends. */
  node: string;
  networkIds: readonly string[];
  /** The owners of the MASTER catalogs that the catalog's entry declares, by their catalogIds. */
  declared: ReadonlyMap<string, string>;
}

/**
 * The template of a resource, of a MASTER catalog that shares a network: a declared one before one of the node itself before any other; of
 * several, the one that the resource has already, else the first that came. What has lost its template keeps what it inherited last.
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

/** A resource that extends another, as it was published and as it becomes. */
export interface ExtendedResource {
  own: Resource;
  extension: Extension;
  template: Template;
  assembled: Resource;
  /** Where it has another value than its template, as JSONPaths. */
  overridden: string[];
}

export function extendTemplate(
  own: Resource,
  { resourceId: _id, ...extension }: FileDirective,
  template: Template,
): ExtendedResource {
  const { assembled, overridden } = inherit(own, template.resource);
  return { own, extension, template, assembled, overridden: overridden.map(jsonPath) };
}
