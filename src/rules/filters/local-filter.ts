import type { Json } from '../../protocol/json.ts';
import type { Condition, Query, Segment, Selector, ValueExpression } from '../jsonpath/grammar.ts';
import { compileFind } from '../jsonpath/jsonpath.ts';

/** What a catalog has many of, each by itself. */
export type ListName = 'resources' | 'offers';

/**
 * Most filters look at each resource, or at each offer, by itself: `$.catalogs[*].resources[?…]`, with conditions about `@` alone. For them this
 * is whether they select something in a given one, so that the rest of its catalog need not be read. Undefined for every other filter.
 */
export function localFilter(
  query: Query,
  list: ListName = 'resources',
  options?: { inAny?: boolean },
): ((document: Json) => boolean) | undefined {
  const segments = findLocalSegments(query, list, options);
  if (segments === undefined) return undefined;
  const find = compileFind({ from: '$', segments });
  return (document) => find([document]).length > 0;
}

/** What a local filter does from the list on; its first segment selects among the documents of the list. `inAny`: also where the filter goes on with some catalogs alone. */
export function findLocalSegments(
  { segments }: Query,
  list: ListName = 'resources',
  { inAny = false } = {},
): Segment[] | undefined {
  const [catalogs, catalog, documents, document, ...rest] = segments;
  const isLocal =
    isName(catalogs, 'catalogs') &&
    (inAny ? catalog?.descendants === false : isEachCatalog(catalog)) &&
    isName(documents, list) &&
    document !== undefined &&
    isEachDocument(document);
  if (!isLocal) return undefined;
  const local = [document, ...rest];
  return local.some(refersToRoot) ? undefined : local;
}

export function isName(segment: Segment | undefined, name: string): boolean {
  return isOnly(segment, (selector) => selector.kind === 'name' && selector.name === name);
}

/** A catalog is evaluated by itself, so that it is the first and the last one. */
function isEachCatalog(segment: Segment | undefined): boolean {
  return isOnly(
    segment,
    (selector) =>
      selector.kind === 'wildcard' ||
      (selector.kind === 'index' && (selector.index === 0 || selector.index === -1)),
  );
}

/** Not by its index in the catalog. */
function isEachDocument({ descendants, selectors }: Segment): boolean {
  return !descendants && selectors.every(({ kind }) => kind === 'wildcard' || kind === 'filter');
}

function isOnly(segment: Segment | undefined, test: (selector: Selector) => boolean): boolean {
  return (
    segment !== undefined &&
    !segment.descendants &&
    segment.selectors.length === 1 &&
    segment.selectors.every(test)
  );
}

function refersToRoot({ selectors }: Segment): boolean {
  return selectors.some((selector) => 'condition' in selector && conditionRefersToRoot(selector.condition));
}

function conditionRefersToRoot(condition: Condition): boolean {
  switch (condition.kind) {
    case 'or':
    case 'and':
      return condition.conditions.some(conditionRefersToRoot);
    case 'not':
      return conditionRefersToRoot(condition.condition);
    case 'exists':
      return queryRefersToRoot(condition.query);
    case 'comparison':
      return valueRefersToRoot(condition.left) || valueRefersToRoot(condition.right);
    case 'match':
    case 'search':
      return valueRefersToRoot(condition.text) || valueRefersToRoot(condition.pattern);
    case 'like':
      return valueRefersToRoot(condition.text);
  }
}

function valueRefersToRoot(expression: ValueExpression): boolean {
  if (expression.kind === 'literal') return false;
  return expression.kind === 'length'
    ? valueRefersToRoot(expression.argument)
    : queryRefersToRoot(expression.query);
}

function queryRefersToRoot({ from, segments }: Query): boolean {
  return from === '$' || segments.some(refersToRoot);
}
