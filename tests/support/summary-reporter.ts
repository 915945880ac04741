import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Says at the end of a run which tests were skipped, by what they need: a test, or its suite, names that as "(needs …)". */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    const needs = new Map<string, number>();
    for (const need of skipped.map(findNeed)) needs.set(need, (needs.get(need) ?? 0) + 1);
    if (needs.size === 0) return;
    const lines = [...needs].map(([need, count]) => `${`${count}`.padStart(6)}  ${need}\n`);
    console.log(` Skipped tests\n${lines.join('')}`);
  }
}

/** The note of `context.skip(note)` counts as well. One without either is named. */
function findNeed(test: TestCase): string {
  const result = test.result();
  const note = result.state === 'skipped' ? result.note : undefined;
  if (note !== undefined) return note;
  // With -t, all others are skipped.
  if (test.project.config.testNamePattern) return 'not asked for';
  return /\((needs [^()]+)\)/.exec(test.fullName)?.[1] ?? `does not say what it needs: ${test.fullName}`;
}
