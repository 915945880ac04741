import { describe, expect, it } from 'vitest';
import { readConfig } from '../config.ts';
import { divideSettings } from './supervisor.ts';

describe('the settings of workers', () => {
  it('have no more connections to the database together than one process would', () => {
    const workers = divideSettings(readConfig({ WORKERS: '3', DATABASE_CONNECTIONS: '20' }));
    expect(workers.map((worker) => worker.DATABASE_CONNECTIONS)).toEqual([7, 7, 6]);
    expect(workers.map((worker) => worker.SEARCH_CACHE_PERCENT)).toEqual([34, 33, 33]);
  });

  it('leave to each worker what it cannot do without', () => {
    const [, second] = divideSettings(
      readConfig({ WORKERS: '2', DISCOVER_CONCURRENCY: '2', MAX_CONNECTIONS: '1' }),
    );
    expect(second).toMatchObject({ DISCOVER_CONCURRENCY: 2, MAX_CONNECTIONS: 1 });
  });

  it('are refused, in plain words, where the connections to the database do not do for all', () => {
    expect(() => divideSettings(readConfig({ WORKERS: '4', DATABASE_CONNECTIONS: '7' }))).toThrow(
      'DATABASE_CONNECTIONS=7 is too few for WORKERS=4: each worker needs at least 2.',
    );
  });

  it('have publisher and console in the first worker alone, and one worker where there is nothing else', () => {
    const rolesOf = (ROLES: string, WORKERS = '2') =>
      divideSettings(readConfig({ WORKERS, ROLES })).map(({ roles }) => roles);
    expect(rolesOf('publisher,catalog')).toEqual([['catalog', 'publisher'], ['catalog']]);
    expect(rolesOf('catalog,console')).toEqual([['catalog', 'console'], ['catalog']]);
    expect(rolesOf('publisher', '64')).toEqual([['publisher']]);
  });
});
