import { ProtocolError } from '../../protocol/errors.ts';
import type { Json } from '../../protocol/json.ts';
import { compileQuery } from './evaluate.ts';
import type { JsonPathNode, Query } from './grammar.ts';
import { parseQuery } from './parse.ts';
import { JsonPathFault } from './reader.ts';

/** The filter expressions of /discover (catalog spec: POST /discover), in RFC 9535 or the grammar of `parse`. Any fault is SCH_INVALID_JSONPATH with its position in the message. */
export function parseJsonPath(expression: string, parse = parseQuery): JsonPath {
  return withPosition(() => {
    const query = parse(expression);
    return { query, find: compileFind(query) };
  });
}

/** Compiles a query. Errors that depend on the value are also SCH_INVALID_JSONPATH. */
export function compileFind(query: Query): JsonPath['find'] {
  const find = compileQuery(query);
  return (value) => withPosition(() => find(value));
}

function withPosition<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof JsonPathFault)) throw error;
    const message = `invalid JSONPath: ${error.message}, at character ${error.at + 1}`;
    throw new ProtocolError('SCH_INVALID_JSONPATH', message, { cause: error });
  }
}

export interface JsonPath {
  readonly query: Query;
  /** The selected nodes in the order of RFC 9535. Synchronous, without a time limit: run it under a deadline. */
  find(value: Json): JsonPathNode[];
}
