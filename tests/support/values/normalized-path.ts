import { quoteName } from '../../../src/protocol/json.ts';
import type { Location } from '../../../src/rules/jsonpath/grammar.ts';

/** The normalized path of a node (RFC 9535 section 2.7): `$['catalogs'][0]`. */
export function normalizedPath(path: Location): string {
  return `$${path.map((key) => `[${typeof key === 'number' ? key : quoteName(key)}]`).join('')}`;
}
