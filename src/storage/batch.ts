interface BatchLimits {
  maxItems: number;
  /** How long a batch waits for more items, unless it is full before; 0: only for items of the same moment. */
  gatherMs: number;
  /** Once aborted, no batch waits for more items. */
  hurry?: AbortSignal;
  /** Maximum concurrent calls: a batch of this size does not wait for more. */
  expected?: () => number;
}

/** Batches concurrent calls: those that arrive while a batch gathers or runs go together. A result may be a promise, so that one can fail alone. */
export function createBatch<Item, Result>(
  { maxItems, gatherMs, hurry, expected = () => maxItems }: BatchLimits,
  work: (items: Item[]) => Promise<readonly (Result | Promise<Result>)[]>,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let running = false;
  let begin = () => {};
  const isComplete = () => waiting.length >= Math.min(maxItems, expected());
  hurry?.addEventListener('abort', () => begin(), { once: true });

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      await gathered();
      const batch = waiting.splice(0, maxItems);
      try {
        const results = await work(batch.map(({ item }) => item));
        for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    running = false;
  }

  async function gathered(): Promise<void> {
    if (gatherMs === 0 || isComplete() || hurry?.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, gatherMs);
      begin = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (isComplete()) begin();
      if (running) return;
      running = true;
      void run();
    });
}

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result | Promise<Result>): void;
  reject(error: unknown): void;
}
