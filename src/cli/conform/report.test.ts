import { describe, expect, it } from 'vitest';
import type { CheckResult } from '../../conform/check.ts';
import { plain } from '../colour.ts';
import { type ConformReport, renderCheck, renderVerdict, toJson } from './report.ts';

const passed: CheckResult = {
  ...{
    name: 'ttl-expired',
    clause: 'Catalog spec: Errors',
    expected: '400',
    verdict: 'passed',
    milliseconds: 12,
  },
};
const failed: CheckResult = {
  ...passed,
  name: 'body-signed',
  verdict: 'failed',
  actual: '200 {"a": "<b> & \u0007"}\nmore',
};
const skipped: CheckResult = { ...passed, name: 'push-comes', verdict: 'skipped', actual: 'no address' };

const report = (...checks: CheckResult[]): ConformReport => ({
  ...{ role: 'catalog', url: 'https://catalog.example.org/?a&b', startedAt: '2026-03-01T12:00:00Z', checks },
});

describe('the report of signpost conform', () => {
  it('has a line for what passed or was not checked, and three for what failed', () => {
    expect(plain(renderCheck(passed))).toBe('ok    ttl-expired                  400');
    expect(plain(renderCheck(skipped))).toBe('–     push-comes                   not checked: no address');
    expect(plain(renderCheck(failed)).split('\n')).toEqual([
      'FAULT body-signed                  Catalog spec: Errors',
      '      expected  400',
      '      actual    200 {"a": "<b> & \u0007"}\\u000amore',
    ]);
    expect(renderVerdict(report(passed, failed, skipped))).toBe(
      '3 checks: 1 passed, 1 failed, 1 not checked.',
    );
  });

  it('calls a node conforming where something was checked, and nothing failed', () => {
    expect(toJson(report(passed, skipped))).toMatchObject({
      isConforming: true,
      passed: 1,
      failed: 0,
      skipped: 1,
    });
    expect(toJson(report(passed, failed))).toMatchObject({ isConforming: false });
    expect(toJson(report(skipped))).toMatchObject({ isConforming: false });
  });
});
