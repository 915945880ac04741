import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createSecret, loadOrCreateToken } from './secret-file.ts';

describe('a secret in a file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'signpost-secret-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  it('is written once, whatever another process of the same id has left, and leaves no draft', () => {
    const file = join(directory, 'token');
    mkdirSync(`${file}.${process.pid}`);
    expect(createSecret(file, 'first')).toBe('first');
    expect(createSecret(file, 'second')).toBe('first');
    expect(readdirSync(directory).sort()).toEqual(['token', `token.${process.pid}`]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is made at first use, and found again', () => {
    const file = join(directory, 'deeper', 'token');
    const made = loadOrCreateToken(file);
    expect(made.isNew).toBe(true);
    expect(loadOrCreateToken(file)).toEqual({ token: made.token, isNew: false });
  });
});
