import type { ServiceContext } from '../delivery/service.ts';
import type { Language } from '../languages.ts';
import type { Context } from '../protocol/context.ts';
import { type DiscoverMessage, spatialConstraints } from '../protocol/discover-messages.ts';
import type { Paging } from '../rules/discover/page-answer.ts';
import { schemaIdentities } from '../rules/schema-address.ts';
import type { Scope } from './documents/scope.ts';
import type { IndexFormat } from './entries/index-format.ts';
import { type FilterPlan, planFilter } from './filter/plan.ts';
import { planConstraint, type SpatialPlan } from './spatial/constraint.ts';

export interface Question {
  message: DiscoverMessage;
  /** Limits of the whole search. */
  scope: Pick<Context, 'networkId' | 'schemaContext'>;
}

/** The query plan of an intent: lookups in the index, and the conditions left to evaluate. */
export interface Plan {
  /** Format of the searched generation. */
  format: IndexFormat;
  scope: Scope;
  paging: Paging;
  text?: string;
  /** Languages with inflected forms in a text search. */
  languages: readonly Language[];
  filter?: FilterPlan;
  spatial: SpatialPlan[];
}

/** Throws SCH_INVALID_JSONPATH for an invalid filter. */
export function planQuestion(
  { config, now }: Pick<ServiceContext, 'config' | 'now'>,
  { message: { intent, limit, offset }, scope: { networkId, schemaContext = [] } }: Question,
  format: IndexFormat,
): Plan {
  const acceptPostfix = config.ACCEPT_POSTFIX_FILTERS;
  const text = intent.textSearch?.trim();
  const expression = intent.filters?.expression;
  return {
    format,
    scope: { now: now(), networkId, schemaContext: schemaIdentities(schemaContext, config.SCHEMA_ALIASES) },
    paging: { limit, offset },
    languages: config.SEARCH_LANGUAGES,
    ...(text && { text }),
    ...(expression !== undefined && { filter: planFilter({ expression, acceptPostfix }, format.attributes) }),
    spatial: spatialConstraints(intent).map((constraint, position) => {
      const paths = constraint.targets.flatMap((target) => format.geometries.targetPath(target) ?? []);
      return planConstraint(constraint, position, [...new Set(paths)]);
    }),
  };
}
