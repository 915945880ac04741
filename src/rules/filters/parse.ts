import { ProtocolError } from '../../protocol/errors.ts';
import { type JsonPath, parseJsonPath } from '../jsonpath/jsonpath.ts';
import { JsonPathFault } from '../jsonpath/reader.ts';
import { parsePostfixQuery } from './postfix.ts';

export interface Filter extends JsonPath {
  readonly grammar: 'rfc9535' | 'postfix';
}

/** Parses `intent.filters.expression` (catalog spec: POST /discover): RFC 9535 first, then, if accepted, the PostgreSQL form. The error is that of the grammar that got further. */
export function parseFilter(expression: string, { acceptPostfix }: { acceptPostfix: boolean }): Filter {
  const read = find('rfc9535', () => parseJsonPath(expression));
  if (!(read instanceof ProtocolError)) return read;
  if (!acceptPostfix) throw atTheExpression(read);
  const readAgain = find('postfix', () => parseJsonPath(expression, parsePostfixQuery));
  if (!(readAgain instanceof ProtocolError)) return readAgain;
  throw atTheExpression(positionOf(readAgain) > positionOf(read) ? readAgain : read);
}

function find(grammar: Filter['grammar'], parse: () => JsonPath): Filter | ProtocolError {
  try {
    return { ...parse(), grammar };
  } catch (error) {
    if (error instanceof ProtocolError) return error;
    throw error;
  }
}

function positionOf({ cause }: ProtocolError): number {
  return cause instanceof JsonPathFault ? cause.at : 0;
}

function atTheExpression({ code, message, cause }: ProtocolError): ProtocolError {
  return new ProtocolError(code, message, { path: '$.message.intent.filters.expression', cause });
}
