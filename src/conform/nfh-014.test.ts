import { describe, expect, it } from 'vitest';
import type { CheckResult } from './check.ts';
import { discoveryChecks } from './discovery-checks.ts';
import { checksOfClauses, draftClauses, judgeClauses } from './nfh-014.ts';
import { treeChecks } from './tree-checks.ts';

const result = (name: string, verdict: CheckResult['verdict'], actual?: string): CheckResult => ({
  ...{ name, clause: 'Self-hosted spec', expected: 'something', verdict, milliseconds: 10 },
  ...(actual !== undefined && { actual }),
});

describe('the clauses of NFH-014', () => {
  it('are all 40 of the draft, in order', () => {
    const numbers = Array.from({ length: 40 }, (_, index) => String(index + 1).padStart(2, '0'));
    expect(draftClauses.map(({ id }) => id)).toEqual(numbers.map((number) => `CON-TBD-${number}`));
  });

  it.each([
    ['tree', treeChecks],
    ['discovery', discoveryChecks],
  ] as const)('name only checks that the role %s has', (role, checks) => {
    expect(checks.map(({ name }) => name)).toEqual(expect.arrayContaining(checksOfClauses(role)));
  });

  it('each bind a role, by a check or with the reason why there is none', () => {
    for (const { id, seen } of draftClauses) {
      const given = Object.values(seen);
      expect(given.length, id).toBeGreaterThan(0);
      for (const one of given) expect(one.length, id).toBeGreaterThan(0);
    }
  });
});

describe('the report by the clauses of NFH-014', () => {
  const judge = (...results: CheckResult[]) =>
    new Map(judgeClauses('tree', results).map((clause) => [clause.name, clause]));

  it('has the clauses of the role alone', () => {
    const clauses = judge();
    expect(clauses.has('CON-TBD-02')).toBe(true);
    expect(clauses.has('CON-TBD-06')).toBe(false);
    expect(clauses.has('CON-TBD-33')).toBe(true);
  });

  it('says of a clause that one check fails which one, and what came', () => {
    const clauses = judge(
      result('baseline-signed', 'passed'),
      result('change-signed', 'failed', 'no signature'),
    );
    expect(clauses.get('CON-TBD-02')).toEqual({
      ...{ name: 'CON-TBD-02', clause: 'NFH-014 CON-TBD-02', verdict: 'failed', milliseconds: 20 },
      ...{ expected: 'every catalog file and change file is signed', actual: 'change-signed: no signature' },
    });
  });

  it('names the checks that a clause passed by', () => {
    const clauses = judge(
      result('baseline-signed', 'passed'),
      result('change-signed', 'skipped', 'no changes'),
    );
    expect(clauses.get('CON-TBD-02')).toMatchObject({
      ...{ verdict: 'passed', expected: 'every catalog file and change file is signed (baseline-signed)' },
    });
  });

  it('says why a clause was not checked', () => {
    const clauses = judge(result('versions-never-regress', 'skipped', 'no index could be read'));
    const reasonOf = (id: string) => [clauses.get(id)?.verdict, clauses.get(id)?.actual];
    expect(reasonOf('CON-TBD-03')).toEqual(['skipped', 'versions-never-regress: no index could be read']);
    expect(reasonOf('CON-TBD-04')).toEqual(['skipped', 'the run ended before']);
    expect(reasonOf('CON-TBD-36')).toEqual(['skipped', 'the specification has no `latest`']);
  });
});
