/** What `read` returns; undefined where it throws, whatever the reason. For what others wrote, and may be anything. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
