/** Some at a time, the results in the order of the items. */
export async function* inOrder<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const running: Promise<R>[] = [];
  for (const item of items) {
    const started = work(item);
    // It is awaited in its turn; until then its failure is nobody's surprise.
    started.catch(() => undefined);
    running.push(started);
    const [first] = running;
    if (running.length < atOnce || !first) continue;
    yield await first;
    running.shift();
  }
  for (const rest of running) yield await rest;
}
