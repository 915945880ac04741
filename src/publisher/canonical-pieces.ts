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
  for (let start = 0; start < list.length; start += itemsPerPiece) {
    yield pieceOf(start === 0 ? '[' : ',', list.slice(start, start + itemsPerPiece));
  }
  yield Buffer.from(list.length === 0 ? '[]' : ']');
}

/** Of a catalog that stays in memory, most is written again and again as it is: the very same piece. */
const written = new WeakMap<object, { lead: string; items: readonly Json[]; piece: Buffer }>();

function pieceOf(lead: '[' | ',', items: readonly Json[]): Buffer {
  const [first] = items;
  const isKnowable = typeof first === 'object' && first !== null;
  const known = isKnowable ? written.get(first) : undefined;
  if (known && known.lead === lead && isSameList(known.items, items)) return known.piece;
  const piece = writeItems(lead, items);
  if (isKnowable) written.set(first, { lead, items, piece });
  return piece;
}

function writeItems(lead: '[' | ',', items: readonly Json[]): Buffer {
  const parts: Buffer[] = [];
  for (let start = 0; start < items.length; start += itemsAtOnce) {
    // What stands before the items and between them takes the place of the bracket that opens their list.
    const part = Buffer.from(canonicalJson(items.slice(start, start + itemsAtOnce)));
    part.write(start === 0 ? lead : ',');
    parts.push(part.subarray(0, -1));
  }
  return Buffer.concat(parts);
}

/** So few that what is made for them has been let go before the next. */
const itemsAtOnce = 50;

/** The very same items: nobody changes them once they are published. */
function isSameList(one: readonly Json[], other: readonly Json[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
