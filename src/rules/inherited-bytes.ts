import type { Config } from '../config.ts';
import type { Template } from './extends.ts';

// Inherited bytes are bounded like sent ones (protocol decision: publish): otherwise a publish of 50 kB that extends one template 500 times becomes gigabytes. They are counted before any template is read.

export type Scope = 'resource' | 'catalog' | 'publish' | 'publisher';

export type InheritanceLimits = Readonly<Record<Scope, number>>;

/** Bytes already inherited: by all resources of the catalog, of this publish, of the publisher. */
export type InheritedBytes = Readonly<Record<Exclude<Scope, 'resource'>, number>>;

export type InheritanceBudget = ReturnType<typeof createInheritanceBudget>;

interface Excess {
  scope: Scope;
  bytes: number;
  limit: number;
}

export function createInheritanceBudget(limits: InheritanceLimits, start: InheritedBytes) {
  let used = start;
  return {
    /** Counts the bytes that a resource inherits, instead of those before. A resource that would exceed a limit is not counted: the limit is returned. */
    take(bytes: number, before = 0): Excess | undefined {
      const growth = bytes - before;
      const after = {
        catalog: used.catalog + growth,
        publish: used.publish + bytes,
        publisher: used.publisher + growth,
      };
      const sizes: Record<Scope, number> = { resource: bytes, ...after };
      // After a limit was lowered, a resource that does not grow can still be replaced.
      const grows = (scope: Scope) => growth > 0 || scope === 'resource' || scope === 'publish';
      const scope = scopes.find((one) => sizes[one] > limits[one] && grows(one));
      if (scope !== undefined) return { scope, bytes: sizes[scope], limit: limits[scope] };
      used = after;
      return undefined;
    },
    get used() {
      return used;
    },
  };
}

/** Counts a template, or the resource's last inherited content if the template has grown too large. Returns the counted one, or the limit that the template would exceed. */
export function fitTemplate(
  template: Template,
  last: Template | undefined,
  budget: InheritanceBudget,
  before?: number,
): Template | Excess {
  const excess = budget.take(template.bytes, before);
  if (excess === undefined) return template;
  const isKept = last?.id === template.id && last.catalogKey === template.catalogKey;
  return isKept && budget.take(last.bytes, before) === undefined ? last : excess;
}

const scopes: readonly Scope[] = ['resource', 'catalog', 'publish', 'publisher'];

/** The rest of a sentence whose subject is the resource. */
export function describeExcess({ scope, bytes, limit }: Excess, template: { id: string }): string {
  const whose = {
    resource: `would inherit ${bytes} bytes of the master resource ${template.id}`,
    catalog: `would make its catalog inherit ${bytes} bytes`,
    publish: `would make this publish inherit ${bytes} bytes`,
    publisher: `would make the catalogs of its publisher inherit ${bytes} bytes`,
  };
  return `${whose[scope]}; at most ${limit} are allowed`;
}

export function inheritanceLimitsOf(config: InheritanceSettings): InheritanceLimits {
  return {
    resource: config.INHERITED_RESOURCE_LIMIT,
    catalog: config.INHERITED_CATALOG_LIMIT,
    publish: config.INHERITED_PUBLISH_LIMIT,
    publisher: config.INHERITED_PUBLISHER_LIMIT,
  };
}

/** The limits for stored content, without a publish in progress. */
export function withoutPublish(limits: InheritanceLimits): InheritanceLimits {
  return { ...limits, publish: Number.POSITIVE_INFINITY };
}

export type InheritanceSettings = Pick<Config, `INHERITED_${Uppercase<Scope>}_LIMIT`>;

/** Too much is inherited for the main thread, which would be blocked during assembly. */
export class TooMuchHere extends Error {
  override readonly name = 'TooMuchHere';
}

/** Assembled at a time. Until it is written, a template of many small members needs up to a hundred times its bytes of memory. */
export const bytesAtOnce = 1024 * 1024;

/** Parts of a list, each within the limit: by default, with the inherited bytes that are assembled at a time. A single item may exceed it. */
export function* batchesOf<T>(items: Iterable<T>, bytesOf: (item: T) => number, limit = bytesAtOnce) {
  let [batch, bytes]: [T[], number] = [[], 0];
  for (const item of items) {
    const more = bytesOf(item);
    if (batch.length > 0 && bytes + more > limit) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(item);
    bytes += more;
  }
  if (batch.length > 0) yield batch;
}
