/** The result of `read`; undefined if it throws, whatever the reason. For foreign input, which may be anything. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
