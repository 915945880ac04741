import type { ServiceContext } from '../delivery/service.ts';
import type { Context } from '../protocol/context.ts';
import {
  type DiscoverMessage,
  type SpatialConstraint,
  spatialConstraints,
} from '../protocol/discover-messages.ts';
import type { Paging } from '../rules/discover/page-answer.ts';
import { schemaIdentities } from '../rules/schema-address.ts';
import type { Scope } from './documents/scope.ts';
import type { FilterSource } from './filter/evaluate.ts';
import { type FilterPlan, planFilter } from './filter/plan.ts';
import type { IndexFormat } from './format/index-format.ts';

export interface Question {
  message: DiscoverMessage;
  /** What narrows the search as a whole. */
  scope: Pick<Context, 'networkId' | 'schemaContext'>;
}

/** The query plan of an intent: what the index is asked, and what is left to evaluate. */
export interface Plan {
  scope: Scope;
  paging: Paging;
  text?: string;
  filter?: FilterPlan;
  /** The filter as a thread reads it again. */
  filterSource?: FilterSource;
  spatial: SpatialPlan[];
}

export interface SpatialPlan {
  constraint: SpatialConstraint;
  /** Among those of the intent. */
  position: number;
  /** As geometries are indexed; a target that no indexed path can equal has none. */
  paths: string[];
}

/** Throws SCH_INVALID_JSONPATH for a filter that cannot be read. `formats` are those of which the index has entries. */
export function planQuestion(
  { config, now }: Pick<ServiceContext, 'config' | 'now'>,
  { message: { intent, limit, offset }, scope: { networkId, schemaContext = [] } }: Question,
  formats: readonly IndexFormat[],
): Plan {
  const acceptPostfix = config.ACCEPT_POSTFIX_FILTERS;
  const text = intent.textSearch?.trim();
  const expression = intent.filters?.expression;
  return {
    scope: { now: now(), networkId, schemaContext: schemaIdentities(schemaContext, config.SCHEMA_ALIASES) },
    paging: { limit, offset },
    ...(text && { text }),
    ...(expression !== undefined && {
      filter: planFilter(expression, { acceptPostfix, formats }),
      filterSource: { expression, acceptPostfix },
    }),
    spatial: spatialConstraints(intent).map((constraint, position) => ({
      constraint,
      position,
      paths: [...new Set(constraint.targets.flatMap((target) => findPaths(target, formats)))],
    })),
  };
}

function findPaths(target: string, formats: readonly IndexFormat[]): string[] {
  return formats.flatMap(({ geometries }) => geometries.targetPath(target) ?? []);
}
