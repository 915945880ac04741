import type { Resource } from '../protocol/catalog.ts';
import type { ProtocolError } from '../protocol/errors.ts';
import { faultAt, type Segments } from '../protocol/fault.ts';
import { isJsonObject } from '../protocol/json.ts';
import { isSameValue } from './same-value.ts';

// "Template attributes are immutable: a REGULAR resource may add fields but may not change values defined by its master" (catalog spec: publishDirectives). This applies to every member of the template
// but its id, compared member by member through objects; an array or a scalar is one value.

/** Assembles a published resource with its template, or lists its values that contradict the template. */
export function assembleResource(own: Resource, template: Resource | undefined, at: Segments = []): Assembly {
  if (template === undefined) return { assembled: own };
  const { assembled, overridden } = inherit(own, template);
  if (overridden.length === 0) return { assembled };
  return { faults: overridden.map((value) => contradiction(value, at, template.id)) };
}

export type Assembly =
  | { assembled: Resource; faults?: undefined }
  | { assembled?: undefined; faults: ProtocolError[] };

interface Overridden {
  segments: Segments;
  given: unknown;
  own: unknown;
}

/** The template's values plus the resource's additions, and the paths where the resource has another value. */
export function inherit(
  own: Resource,
  { id: _id, ...template }: Resource,
): { assembled: Resource; overridden: Overridden[] } {
  const overridden: Overridden[] = [];
  const { id, ...members } = own;
  return { assembled: { id, ...combine(template, members, [], overridden) }, overridden };
}

function contradiction({ segments, given, own }: Overridden, at: Segments, masterResourceId: string) {
  const problem = `is ${shown(own)}, but ${shown(given)} in the master resource ${masterResourceId}, whose values cannot be changed`;
  return faultAt('BIZ_GENERIC_ERROR', [...at, ...segments], problem);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  if (text.length <= maxShownLength) return text;
  // No half of a surrogate pair: databases reject it.
  return `${text.slice(0, maxShownLength).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** In characters: a value may be as long as a body. */
const maxShownLength = 100;

/** Every own member is copied as a plain member, whatever its name: `__proto__` is ordinary data. */
function combine(template: object, own: object, at: Segments, overridden: Overridden[]): object {
  const members = new Map<string, unknown>(Object.entries(template));
  for (const [name, value] of Object.entries(own)) {
    const given = members.get(name);
    if (!members.has(name)) members.set(name, value);
    else if (isJsonObject(given) && isJsonObject(value)) {
      members.set(name, combine(given, value, [...at, name], overridden));
    } else if (!isSameValue(given, value)) overridden.push({ segments: [...at, name], given, own: value });
  }
  return Object.fromEntries(members);
}
