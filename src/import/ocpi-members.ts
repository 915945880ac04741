import type { Json, JsonObject } from '../protocol/json.ts';
import { isCarried } from './ocpi-fields.ts';
import type { Problem } from './station.ts';

// Members of OCPI objects: read where they are known, told where they are not.

export type Report = (why: string, more?: Partial<Problem>) => void;

export function textOf(value: Json | undefined): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined;
}

/** Reports the members that hold something and go nowhere. */
export function noteRest(object: JsonObject, place: string, report: Report): void {
  for (const [member, value] of Object.entries(object)) {
    const isEmpty = value === null || value === '' || (Array.isArray(value) && value.length === 0);
    if (isEmpty || isCarried(`${place}${member}`)) continue;
    report('is not taken over: a charger has no place for it', { column: `${place}${member}`, kind: 'note' });
  }
}
