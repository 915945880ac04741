import { describe, expect, it } from 'vitest';
import { explainFailure } from './cluster.ts';

describe('the failure of a PostgreSQL program', () => {
  it('is told by its reason, details and hints, without dates and process ids', () => {
    const output = [
      '2026-01-01 12:00:00.000 UTC [4711] LOG:  starting PostgreSQL 18',
      '2026-01-01 12:00:00.000 UTC [4711] FATAL:  database files are incompatible with server',
      '2026-01-01 12:00:00.000 UTC [4711] DETAIL:  The data directory was initialized by PostgreSQL version 17.',
      'ended with 1',
    ].join('\n');
    expect(explainFailure('PostgreSQL did not start', output)).toBe(
      'PostgreSQL did not start: database files are incompatible with server. The data directory was initialized by PostgreSQL version 17.',
    );
  });

  it('is a full disk in plain words', () => {
    const output = 'initdb: error: could not write file "/data/PG_VERSION": No space left on device';
    expect(explainFailure('Cannot make a database', output)).toBe(
      'Cannot make a database: the disk is full.',
    );
  });

  it('is at least its last line', () => {
    expect(explainFailure('PostgreSQL did not start', 'something\nended with SIGKILL\n')).toBe(
      'PostgreSQL did not start: ended with SIGKILL',
    );
  });
});
