import type { Json } from '../../protocol/json.ts';
import { type Query, queriesOf, type Segment, type Selector } from '../jsonpath/grammar.ts';
import { compileFind } from '../jsonpath/jsonpath.ts';

export type ListName = 'resources' | 'offers';

/** Most filters judge each resource or offer separately: `$.catalogs[*].resources[?…]`. For these, returns whether they select something in a given one; undefined for other filters. */
export function localFilter(query: Query, list: ListName = 'resources', options?: { inAny?: boolean }) {
  const segments = findLocalSegments(query, list, options);
  if (segments === undefined) return undefined;
  const find = compileFind({ from: '$', segments });
  return (document: Json) => find([document]).length > 0;
}

/** The segments of a local filter from the list on; the first selects among the documents of the list. `inAny`: also if the filter continues with only some catalogs. */
export function findLocalSegments({ segments }: Query, list: ListName = 'resources', { inAny = false } = {}) {
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

/** Each catalog is evaluated alone, so it is both the first and the last one. */
function isEachCatalog(segment: Segment | undefined): boolean {
  return isOnly(
    segment,
    (selector) =>
      selector.kind === 'wildcard' ||
      (selector.kind === 'index' && (selector.index === 0 || selector.index === -1)),
  );
}

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
  const queries = selectors.flatMap((selector) =>
    'condition' in selector ? queriesOf(selector.condition) : [],
  );
  return queries.some(({ from, segments }) => from === '$' || segments.some(refersToRoot));
}
