import { afterEach, beforeAll, beforeEach } from 'vitest';
import { silentLogger } from '../../../src/logger.ts';
import type { Database } from '../../../src/storage/database.ts';
import { createQueryable } from '../../../src/storage/statement.ts';
import {
  type Claim,
  type StartedLoop,
  settle,
  startWorkLoop,
  type WorkLoopOptions,
} from '../../../src/storage/work/due-work.ts';
import { markSettled } from '../../../src/storage/work/leases.ts';
import { useDatabase } from './database.ts';

// A table of due work, emptied before each test, and loops on it, closed after each.

export const jobTable = 'public.job';
export const longestWaitMs = 24 * 3_600_000;

export interface Job {
  id: number;
  receiver: string;
  result: string | null;
  due_at: Date | null;
  lease_token: string | null;
}

/** With the receiver, the token of the lease and its milliseconds. */
export const insertLeased = `
  insert into job (receiver, lease_token, leased_until, due_at, attempts)
  values ($1, $2, now() + $3 * interval '1 millisecond', now() + $3 * interval '1 millisecond', 1) returning *`;

export interface Jobs {
  database: Database;
  url: string;
  add(dueIn: string | null, receiver?: string): Promise<number>;
  all(): Promise<Job[]>;
  areDone(): Promise<boolean>;
  /** Settles a job. */
  finish(claim: Claim<unknown> | undefined, result: string): Promise<void>;
  /** Settles a job that will never be due again. */
  finishForGood(claim: Claim<unknown>): Promise<void>;
  work(options: Partial<WorkLoopOptions<Job>> & Pick<WorkLoopOptions<Job>, 'handle'>): StartedLoop<Job>;
}

export function useJobs(): Jobs {
  const logger = silentLogger();
  const loops: StartedLoop<Job>[] = [];
  let database: Database;
  useDatabase((opened) => {
    database = opened;
  });

  beforeAll(async () => {
    await database.query(`
      create table job (
        id bigint generated always as identity primary key,
        receiver text not null default 'r',
        result text,
        due_at timestamptz,
        lease_token uuid,
        leased_until timestamptz,
        attempts int not null default 0
      )`);
    await database.query('create index on job (receiver, due_at) where due_at is not null');
  });
  beforeEach(async () => {
    await database.query('truncate job');
  });
  afterEach(async () => {
    await Promise.all(loops.splice(0).map((loop) => loop.close()));
  });

  const jobs: Jobs = {
    get database() {
      return database;
    },
    get url() {
      return database.url;
    },
    async add(dueIn, receiver = 'r') {
      const { rows } = await database.query<{ id: number }>(
        'insert into job (due_at, receiver) values (now() + $1::interval, $2) returning id',
        [dueIn, receiver],
      );
      return rows[0]?.id ?? 0;
    },
    all: async () => (await database.query<Job>('select * from job order by id')).rows,
    areDone: async () => (await jobs.all()).every(({ result }) => result === 'done'),
    async finish(claim, result) {
      if (!claim) throw new Error('nothing was claimed');
      await database.transaction((tx) => settle(tx, jobTable, claim, { dueInMs: null, set: { result } }));
    },
    async finishForGood(claim) {
      await jobs.finish(claim, 'done');
      markSettled(claim, { forGood: true });
    },
    work(options) {
      const defaults = {
        database,
        table: jobTable,
        concurrency: 5,
        logger,
        longestWaitMs,
      };
      const loop = startWorkLoop<Job>({ ...defaults, ...options });
      loops.push(loop);
      return loop;
    },
  };
  return jobs;
}

/** Records the statements that are sent to it. */
export function counting(real: Database): { counted: Database; statements: string[] } {
  const statements: string[] = [];
  const counted: Database = {
    ...real,
    ...createQueryable((text, ...rest) => {
      statements.push(text);
      return real.query(text, ...rest);
    }),
    transaction: (...args) => {
      statements.push('begin');
      return real.transaction(...args);
    },
  };
  return { counted, statements };
}

export { until } from '../time.ts';
