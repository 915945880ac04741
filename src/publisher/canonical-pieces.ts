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
    const piece = Buffer.from(form.write(list.slice(start, start + itemsPerPiece)));
    // What stands before the items replaces the bracket that opens their list.
    piece.write(start === 0 ? '[' : ',');
    yield piece.subarray(0, -1);
  }
  yield Buffer.from(list.length === 0 ? '[]' : ']');
}
