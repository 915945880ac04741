import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Lists the skipped tests at the end of a run by what they need: a test, or its suite, says so in its name as "(needs …)". */
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

/** A note of `context.skip(note)` also counts. A test with neither is listed by name. */
function findNeed(test: TestCase): string {
  const result = test.result();
  const note = result.state === 'skipped' ? result.note : undefined;
  if (note !== undefined) return note;
  // With -t, all other tests are skipped.
  if (test.project.config.testNamePattern) return 'not asked for';
  return /\((needs [^()]+)\)/.exec(test.fullName)?.[1] ?? `does not say what it needs: ${test.fullName}`;
}
