import type { Config } from '../../../src/config.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { DiscoverMessage } from '../../../src/protocol/discover-messages.ts';
import { createSearch } from '../../../src/search/port.ts';
import type { Database } from '../../../src/storage/database.ts';
import { createThreadPool } from '../../../src/thread-pool.ts';

// Searches like a process of the discovery service, with the load that they put on PostgreSQL: unlike times, that is the same on every machine.

export interface Asked {
  statements: number;
  /** In PostgreSQL's answers. */
  characters: number;
}

export interface CountedSearches {
  /** Makes all of these searches, one after another; returns the ids that each finds. */
  find(messages: readonly object[]): Promise<{ found: string[][]; asked: Asked }>;
  close(): Promise<void>;
}

export function countSearches(database: Database, config: Config): CountedSearches {
  const threads = createThreadPool({ size: 1, logger: silentLogger() });
  const asked: Asked = { statements: 0, characters: 0 };
  const counted: Database = Object.create(database, {
    query: {
      value: async (...statement: Parameters<Database['query']>) => {
        const answer = await database.query(...statement);
        asked.statements += 1;
        asked.characters += JSON.stringify(answer.rows).length;
        return answer;
      },
    },
  });
  const service = createSearch({ config, database: counted, threads, now: () => new Date() });
  return {
    async find(messages) {
      Object.assign(asked, { statements: 0, characters: 0 });
      const found: string[][] = [];
      for (const message of messages) {
        const { answer } = await service.search({ message: message as DiscoverMessage, scope: {} });
        const catalogs: { resources: { id: string }[] }[] = JSON.parse(answer.catalogs);
        found.push(catalogs.flatMap(({ resources }) => resources.map(({ id }) => id)));
      }
      return { found, asked: { ...asked } };
    },
    close: () => threads.close(),
  };
}
