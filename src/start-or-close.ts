/** Closes in the reverse order of opening, whatever fails on the way; then the first failure is thrown. */
export async function closeAll(closers: (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const closer of closers.splice(0).reverse()) {
    await closer().catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

/** Whatever a start has opened is closed when the rest of it fails. Why it failed matters more than a failure to close. */
export async function startOrClose<T>(start: () => Promise<T>, close: () => Promise<void>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}
