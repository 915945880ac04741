import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';
import { textOf } from './cell-values.ts';

/** Finds a member by its name, with or without the prefix of a profile. */
export function memberOf(holder: Json | undefined, name: string): Json | undefined {
  if (!isJsonObject(holder)) return undefined;
  if (name in holder) return holder[name];
  const wanted = name.toLowerCase();
  const found = Object.keys(holder).find(
    (key) => key.toLowerCase().replace(/^(a?egi|a?fac|a?loc|a?com)/, '') === wanted,
  );
  return found === undefined ? undefined : holder[found];
}

export function listIn(holder: Json | undefined, name: string): JsonObject[] {
  return [memberOf(holder, name) ?? []].flat().filter(isJsonObject);
}

export function firstObject(...values: (Json | undefined)[]): JsonObject {
  return values.find(isJsonObject) ?? {};
}

export function enumOf(given: Json | undefined): string | undefined {
  if (!isJsonObject(given)) return textOf(given);
  const value = textOf(given.value);
  return value === 'extendedG' ? textOf(given.extendedValueG) : value;
}

export function wordsOf(given: Json | undefined): string | undefined {
  const [first] = [given].flat();
  const [value] = listIn(first, 'values');
  return textOf(value?.value) ?? textOf(first);
}
