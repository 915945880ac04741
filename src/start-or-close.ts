/** Whatever a start has opened is closed when the rest of it fails. Why it failed matters more than a failure to close. */
export async function startOrClose<T>(start: () => Promise<T>, close: () => Promise<void>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}
