import { isJsonObject, type JsonObject } from '../protocol/json.ts';

/** Equality of JSON values: the order of members does not matter, that of items does. */
export function isSameValue(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) return Array.isArray(other) && haveSameItems(one, other);
  return isJsonObject(one) && isJsonObject(other) && haveSameMembers(one, other);
}

// Plain loops, because whole catalogs are compared this way.

function haveSameItems(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) {
    if (!isSameValue(one[index], other[index])) return false;
  }
  return true;
}

function haveSameMembers(one: JsonObject, other: JsonObject): boolean {
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  for (const name of names) {
    if (!Object.hasOwn(other, name) || !isSameValue(one[name], other[name])) return false;
  }
  return true;
}
