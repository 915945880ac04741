import type { CanonicalForm } from '../protocol/canonical-json.ts';
import { isJsonObject, type Json } from '../protocol/json.ts';

/** The canonical form of a large value in pieces, so that one can be hashed and compressed while the next is made. Lists are cut where they are the value itself or one of its members. */
export function* canonicalPieces(value: Json, form: CanonicalForm): Generator<Buffer> {
  if (Array.isArray(value)) return yield* piecesOfList(value, form);
  if (!isJsonObject(value)) return yield Buffer.from(form.write(value));
  const names = form.sortNames(Object.keys(value).filter((name) => value[name] !== undefined));
  for (const [index, name] of names.entries()) {
    yield Buffer.from(`${index === 0 ? '{' : ','}${form.write(name)}:`);
    const member = value[name] as Json;
    if (Array.isArray(member)) yield* piecesOfList(member, form);
    else yield Buffer.from(form.write(member));
  }
  yield Buffer.from(names.length === 0 ? '{}' : '}');
}

const itemsPerPiece = 500;

function* piecesOfList(list: readonly Json[], form: CanonicalForm): Generator<Buffer> {
  for (let start = 0; start < list.length; start += itemsPerPiece) {
    yield pieceOf(start === 0 ? '[' : ',', list.slice(start, start + itemsPerPiece), form);
  }
  yield Buffer.from(list.length === 0 ? '[]' : ']');
}

/** Pieces of a catalog that stays in memory: most are written again unchanged, so each is written once. */
const written = new WeakMap<object, WrittenPiece>();

interface WrittenPiece {
  lead: '[' | ',';
  items: readonly Json[];
  form: CanonicalForm;
  piece: Buffer;
}

function pieceOf(lead: '[' | ',', items: readonly Json[], form: CanonicalForm): Buffer {
  const [first] = items;
  const isKnowable = typeof first === 'object' && first !== null;
  const known = isKnowable ? written.get(first) : undefined;
  if (known && known.lead === lead && known.form === form && isSameList(known.items, items))
    return known.piece;
  const piece = writeItems(lead, items, form);
  if (isKnowable) written.set(first, { lead, items, form, piece });
  return piece;
}

function writeItems(lead: '[' | ',', items: readonly Json[], form: CanonicalForm): Buffer {
  const parts: Buffer[] = [];
  for (let start = 0; start < items.length; start += itemsAtOnce) {
    // The text before the items, and between them, replaces the bracket that opens their list.
    const part = Buffer.from(form.write(items.slice(start, start + itemsAtOnce)));
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
