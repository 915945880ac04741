import type { CanonicalForm } from '../protocol/canonical-json.ts';
import { isJsonObject, type Json } from '../protocol/json.ts';

/** The canonical form of a large value in pieces, for hashing and compressing in parallel. Splits a list, or an object's lists. */
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

/** Pieces of a catalog that stays in memory: most are written again unchanged, so each is serialized once. */
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
    // The opening bracket is replaced by the text before or between items.
    const part = Buffer.from(form.write(items.slice(start, start + itemsAtOnce)));
    part.write(start === 0 ? lead : ',');
    parts.push(part.subarray(0, -1));
  }
  return Buffer.concat(parts);
}

/** Few enough that their garbage is freed before the next ones. */
const itemsAtOnce = 50;

/** Compares by identity: published items never change. */
function isSameList(one: readonly Json[], other: readonly Json[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
