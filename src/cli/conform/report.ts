import type { CheckResult, Role } from '../../conform/check.ts';
import { counted } from '../../counted.ts';
import { paint, paintWord } from '../colour.ts';
import { oneLine } from '../command.ts';

export interface ConformReport {
  role: Role;
  url: string;
  as?: string;
  clauses?: 'nfh-014';
  startedAt: string;
  checks: CheckResult[];
}

export const roleNames: Record<Role, string> = {
  catalog: 'catalog service',
  discovery: 'discovery service',
  tree: 'published tree',
};

export function renderHead({ role, url, as, clauses }: ConformReport): string {
  const against = clauses ? ', against the clauses of NFH-014' : '';
  return `${paint('bold', `${url}, checked as a ${roleNames[role]}`)}${as ? ` by ${as}` : ''}${against}`;
}

const marks = { passed: 'ok', failed: 'FAULT', skipped: '–' } as const;
const nameWidth = 28;

export function renderCheck({ name, clause, expected, verdict, actual = '' }: CheckResult): string {
  const mark = marks[verdict];
  const head = `${paintWord(mark)}${' '.repeat(6 - mark.length)}${name.padEnd(nameWidth)}`;
  if (verdict === 'passed') return oneLine(`${head} ${expected}`);
  if (verdict === 'skipped') return oneLine(`${head} not checked: ${actual}`);
  const lines = [`${head} ${clause}`, `      expected  ${expected}`, `      actual    ${actual}`];
  return lines.map(oneLine).join('\n');
}

export function renderVerdict({ checks, clauses }: ConformReport): string {
  const { passed, failed, skipped } = countVerdicts(checks);
  const rest = skipped > 0 ? `, ${skipped} not checked` : '';
  return `${counted(checks.length, clauses ? 'clause' : 'check')}: ${passed} passed, ${failed} failed${rest}.`;
}

export function toJson(report: ConformReport) {
  const counts = countVerdicts(report.checks);
  const { checks, ...about } = report;
  return { ...about, isConforming: counts.failed === 0 && counts.passed > 0, ...counts, checks };
}

export function countVerdicts(checks: readonly CheckResult[]) {
  const count = (verdict: CheckResult['verdict']) => checks.filter((one) => one.verdict === verdict).length;
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}
