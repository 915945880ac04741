/** An error as plain values, for another thread: its message, stack and simple members, and the names of its classes. */
export interface PlainError extends Record<string, unknown> {
  message: string;
  classes: string[];
}

export function plainError(error: unknown): PlainError {
  if (!(error instanceof Error)) return { message: String(error), classes: [] };
  const members = Object.entries(error).filter(([, value]) =>
    ['string', 'number', 'boolean'].includes(typeof value),
  );
  const { name, message, stack } = error;
  return { ...Object.fromEntries(members), name, message, stack, classes: classesOf(error) };
}

/** Restores the error as an instance of the first of its classes that is among `known`. */
export function reviveError(
  { classes, message, ...members }: PlainError,
  known: readonly ErrorClass[] = [],
): Error {
  const error = Object.assign(new Error(message), members);
  const own = classes.flatMap((name) => known.find((one) => one.name === name) ?? [])[0];
  return own ? Object.setPrototypeOf(error, own.prototype) : error;
}

export type ErrorClass = { name: string; prototype: Error };

function classesOf(error: object): string[] {
  const prototype = Object.getPrototypeOf(error);
  return prototype === Error.prototype ? [] : [prototype.constructor.name, ...classesOf(prototype)];
}
