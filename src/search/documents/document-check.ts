import { type IndexCondition, type IndexLeaf, isOfMembers } from '../../rules/filters/index-condition.ts';
import type { Parameters } from '../../storage/parameters.ts';

/** What a resource's document must satisfy: predicates in PostgreSQL's jsonpath, one for each of its modes. */
export interface DocumentCheck {
  strict?: string;
  lax?: string;
}

/**
 * A condition as PostgreSQL checks it on the document of a resource. What it cannot say is left out, so that it is never narrower than the
 * condition; undefined where nothing is left. Its strict mode takes members as they are; for elements it would end at the
 * first that lacks something, so there it is asked laxly, which looks into arrays a little more widely than it is meant.
 */
export function buildCheck(condition: IndexCondition): DocumentCheck | undefined {
  const conditions = condition.kind === 'and' ? condition.conditions : [condition];
  const strict = predicatesOf(conditions.filter(isOfMembers));
  const lax = predicatesOf(conditions.filter((each) => !isOfMembers(each)));
  if (strict.length + lax.length === 0) return undefined;
  return {
    ...(strict.length > 0 && { strict: `strict ${strict.join(' && ')}` }),
    ...(lax.length > 0 && { lax: `lax ${lax.join(' && ')}` }),
  };
}

function predicatesOf(conditions: readonly IndexCondition[]): string[] {
  return conditions.flatMap((condition) => predicateOf(condition) ?? []);
}

function predicateOf(condition: IndexCondition): string | undefined {
  switch (condition.kind) {
    case 'always':
      return undefined;
    case 'never':
      return '(1 == 2)';
    case 'and': {
      const parts = predicatesOf(condition.conditions);
      return parts.length > 0 ? `(${parts.join(' && ')})` : undefined;
    }
    case 'or': {
      const parts = predicatesOf(condition.conditions);
      return parts.length === condition.conditions.length ? `(${parts.join(' || ')})` : undefined;
    }
    default:
      return leafPredicate(condition);
  }
}

function leafPredicate(leaf: IndexLeaf): string | undefined {
  if (leaf.path.includes('child')) return undefined;
  const steps = leaf.path.map((step) => (typeof step === 'object' ? `.${JSON.stringify(step.name)}` : '[*]'));
  const path = `$${steps.join('')}`;
  switch (leaf.kind) {
    case 'exists':
      return `exists (${path})`;
    case 'equals':
      return `(${path} == ${JSON.stringify(leaf.value)})`;
    case 'range':
      return `(${path} ${leaf.operator} ${leaf.value})`;
  }
}

/** In SQL, of a row of discovery.resource. Neither holds where the document lacks what it asks for. */
export function checkCondition({ strict, lax }: DocumentCheck, parameters: Parameters): string {
  const strictly = `${parameters.add(strict ?? null)}::jsonpath`;
  const laxly = `${parameters.add(lax ?? null)}::jsonpath`;
  return `(${strictly} is null or document @@ ${strictly}) and (${laxly} is null or document @@ ${laxly})`;
}
