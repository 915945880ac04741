import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CrawlFault, crawlCodes } from '../../src/discovery/crawl/reasons.ts';
import { lineOf } from '../../src/discovery/crawl/tell.ts';
import { silentLogger } from '../../src/logger.ts';
import { createMetrics } from '../../src/metrics.ts';
import { TrustFault, trustHints } from '../../src/rules/self-hosted/faults.ts';

// The reasons why the crawler refuses something are a closed list, described in one place. Other tests of the crawler, named after the reasons, show
// that each can happen and what is served then.

const tests = ['tests/crawl', 'tests/ways/crawl', 'tests/large'].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.test.ts') && name !== 'codes.test.ts')
    .map((name) => readFileSync(join(folder, name), 'utf8')),
);

describe.each(crawlCodes)('the reason %s', (code) => {
  it('has a line in the crawl log that says what to do, and is counted', async () => {
    const metrics = createMetrics({ process: false });
    const told = 'Something is not as it should be.';
    const fault = isTrustCode(code) ? new TrustFault('index', code, told) : new CrawlFault(code, told);
    const line = lineOf({ metrics, logger: silentLogger() }, { node: 'a.example/registry' }, fault);
    expect(line).toMatchObject({ node: 'a.example/registry', code, message: told });
    expect(line.hint).toMatch(/^[A-Z].{20,}\.$/);
    const document = isTrustCode(code) ? 'index' : '';
    expect(await metrics.registry.metrics()).toContain(
      `signpost_crawl_faults_total{code="${code}",document="${document}"} 1`,
    );
  });

  it('is that of a test of the crawler', () => {
    // At the start of a test's title, or in a row of a table of tests.
    const called = new RegExp(`'${code}: |\\bcode: '${code}'|\\[\\s*(\\.\\.\\.\\(\\[)?'${code}',`);
    expect(tests.filter((text) => called.test(text)).length).toBeGreaterThan(0);
  });
});

function isTrustCode(code: string): code is keyof typeof trustHints {
  return Object.hasOwn(trustHints, code);
}
