type Segments = readonly (string | number)[];

/** A copy of a document with one value replaced, or removed if the new value is undefined. */
export function changed(document: unknown, [first, ...rest]: Segments, value: unknown): unknown {
  if (first === undefined) return value;
  const inner = (document as Record<string | number, unknown> | undefined)?.[first];
  const next = changed(inner, rest, value);
  if (Array.isArray(document)) return Object.assign([...document], { [first]: next });
  const { [first]: _, ...others } = document as Record<string | number, unknown>;
  return next === undefined ? others : { ...others, [first]: next };
}

/** A copy of a document with one value removed. */
export function without(document: unknown, segments: Segments): unknown {
  return changed(document, segments, undefined);
}
