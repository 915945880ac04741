import type { Database } from './database.ts';
import { createQueryable } from './statement.ts';

export function limitConnections(database: Database, connections: number): Database {
  const waiting: (() => void)[] = [];
  let free = connections;

  async function hold<T>(work: () => Promise<T>): Promise<T> {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  }

  return {
    ...database,
    ...createQueryable((...asked) => hold(() => database.query(...asked))),
    transaction: (work, options) => hold(() => database.transaction(work, options)),
  };
}
