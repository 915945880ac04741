import { setTimeout as delay } from 'node:timers/promises';

export interface BatchLimits {
  maxItems: number;
  /** How long a batch waits for company before it begins. */
  gatherMs: number;
}

/**
 * Turns calls that come together into one: whatever arrives while a batch gathers, or while the one before is under way, goes
 * with it. Work for many then costs one statement instead of many.
 */
export function createBatch<Item, Result>(
  { maxItems, gatherMs }: BatchLimits,
  work: (items: Item[]) => Promise<Result[]>,
): (item: Item) => Promise<Result> {
  const waiting: { item: Item; resolve(result: Result): void; reject(error: unknown): void }[] = [];
  let running = false;

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      await delay(gatherMs);
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

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (running) return;
      running = true;
      void run();
    });
}
