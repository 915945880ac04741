import fc from 'fast-check';
import { canonicalJson } from '../../../src/protocol/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../src/protocol/json.ts';

/** The document with one change: a value replaced, a member or item removed or added. Its signature stays. */
export function arbitraryChange(document: JsonObject): fc.Arbitrary<JsonObject> {
  const places = placesIn(document).filter(([first]) => first !== 'signature' && first !== 'proof');
  const edit = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }).map((value) => ({ kind: 'replace' as const, value: value as Json })),
    fc.constant({ kind: 'remove' as const }),
    fc
      .tuple(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 0 }))
      .map(([name, value]) => ({ kind: 'add' as const, name: `x${name}`, value: value as Json })),
  );
  return fc
    .tuple(fc.constantFrom(...places), edit)
    .map(([place, change]) => edited(document, place, change) as JsonObject)
    .filter((changed) => canonicalJson(changed) !== canonicalJson(document));
}

type Edit =
  | { kind: 'replace'; value: Json }
  | { kind: 'remove' }
  | { kind: 'add'; name: string; value: Json };
type Place = (string | number)[];

function placesIn(value: Json): Place[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => [[index], ...placesIn(item).map((place) => [index, ...place])]);
  }
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    [name],
    ...placesIn(member).map((place) => [name, ...place]),
  ]);
}

function edited(value: Json, [step, ...rest]: Place, edit: Edit): Json {
  if (step === undefined) return value;
  const holder = structuredClone(value) as JsonObject;
  const inner = holder[step] as Json;
  if (rest.length > 0) holder[step] = edited(inner, rest, edit);
  else if (edit.kind === 'replace') holder[step] = edit.value;
  else if (edit.kind === 'add' && Array.isArray(inner)) inner.push(edit.value);
  else if (edit.kind === 'add') holder[`${step}${edit.name}`] = edit.value;
  else if (Array.isArray(holder)) holder.splice(Number(step), 1);
  else delete holder[step];
  return holder;
}
