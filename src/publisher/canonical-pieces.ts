import { canonicalJson } from '../protocol/canonical-json.ts';
import { isJsonObject, type Json } from '../protocol/json.ts';

/**
 * The canonical form of a value in pieces, for documents of many megabytes: one piece can be hashed and compressed while the next is made.
 * Long lists are cut, where they are the value itself or one of its members.
 */
export function* canonicalPieces(value: Json): Generator<Buffer> {
  if (Array.isArray(value)) return yield* piecesOfList(value);
  if (!isJsonObject(value)) return yield Buffer.from(canonicalJson(value));
  const names = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort();
  for (const [index, name] of names.entries()) {
    yield Buffer.from(`${index === 0 ? '{' : ','}${canonicalJson(name)}:`);
    const member = value[name] as Json;
    if (Array.isArray(member)) yield* piecesOfList(member);
    else yield Buffer.from(canonicalJson(member));
  }
  yield Buffer.from(names.length === 0 ? '{}' : '}');
}

const itemsPerPiece = 500;

function* piecesOfList(list: readonly Json[]): Generator<Buffer> {
  yield Buffer.from('[');
  for (let start = 0; start < list.length; start += itemsPerPiece) {
    if (start > 0) yield Buffer.from(',');
    yield pieceOf(list.slice(start, start + itemsPerPiece));
  }
  yield Buffer.from(']');
}

/** Of a catalog that stays in memory, most is written again and again as it is. */
const written = new WeakMap<object, { items: readonly Json[]; piece: Buffer }>();

function pieceOf(items: readonly Json[]): Buffer {
  const [first] = items;
  const isKnowable = typeof first === 'object' && first !== null;
  const known = isKnowable ? written.get(first) : undefined;
  if (known && isSameList(known.items, items)) return known.piece;
  const piece = Buffer.from(canonicalJson(items as Json[]).slice(1, -1));
  if (isKnowable) written.set(first, { items, piece });
  return piece;
}

/** The very same items: nobody changes them once they are published. */
function isSameList(one: readonly Json[], other: readonly Json[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
