/** Returns the result of `read`; undefined if it throws for any reason. For data from outside. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
