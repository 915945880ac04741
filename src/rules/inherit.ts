import type { Resource } from '../protocol/catalog.ts';
import type { ProtocolError } from '../protocol/errors.ts';
import { faultAt, type Segments } from '../protocol/fault.ts';
import { isPlainObject, isSameValue } from './same-value.ts';

// A REGULAR resource that extends a master resource: "template attributes are immutable: a REGULAR resource may add
// fields but may not change values defined by its master" (catalog spec: publishDirectives). Attributes are compared
// member by member through objects; an array or a scalar is one value. The template's `@context` and `@type` are
// attributes like the others. Of the descriptor, each member that the resource gives is its own, the others are
// inherited. Nothing else is.

/** What a published resource becomes under its template; or the values of it that contradict the template. */
export function assembleResource(own: Resource, template: Resource | undefined, at: Segments = []): Assembly {
  if (template === undefined) return { assembled: own };
  const { assembled, overridden } = inherit(own, template);
  if (overridden.length === 0) return { assembled };
  return { faults: overridden.map((segments) => contradiction([...at, ...segments], template.id)) };
}

export type Assembly =
  | { assembled: Resource; faults?: undefined }
  | { assembled?: undefined; faults: ProtocolError[] };

/** The template's values with what the resource adds, and the places where the resource has another value. */
export function inherit(own: Resource, template: Resource): { assembled: Resource; overridden: Segments[] } {
  const overridden: Segments[] = [];
  const assembled: Resource = { ...own };
  if (template.resourceAttributes !== undefined) {
    assembled.resourceAttributes = combine(
      template.resourceAttributes,
      own.resourceAttributes ?? {},
      ['resourceAttributes'],
      overridden,
    ) as Resource['resourceAttributes'];
  }
  if (template.descriptor !== undefined) {
    assembled.descriptor = { ...template.descriptor, ...own.descriptor };
  }
  return { assembled, overridden };
}

function contradiction(segments: Segments, masterResourceId: string): ProtocolError {
  return faultAt(
    'BIZ_GENERIC_ERROR',
    segments,
    `has another value than the master resource ${masterResourceId}, whose attributes cannot be changed`,
  );
}

/** Every own member is copied as a plain member, whatever its name: `__proto__` is data like any other. */
function combine(template: object, own: object, at: Segments, overridden: Segments[]): object {
  const members = new Map<string, unknown>(Object.entries(template));
  for (const [name, value] of Object.entries(own)) {
    const given = members.get(name);
    if (!members.has(name)) members.set(name, value);
    else if (isPlainObject(given) && isPlainObject(value)) {
      members.set(name, combine(given, value, [...at, name], overridden));
    } else if (!isSameValue(given, value)) overridden.push([...at, name]);
  }
  return Object.fromEntries(members);
}
