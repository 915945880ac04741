import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandContext } from '../../src/cli/command.ts';
import { describeCommands } from '../../src/cli/completion.ts';
import { buildWholeProgram } from '../../src/cli/program.ts';
import { errorStatus } from '../../src/protocol/errors.ts';
import { trustHints } from '../../src/rules/self-hosted/faults.ts';
import { troubleKinds } from '../../src/rules/troubles.ts';
import { documents, isTaken, readBlocks, readSteps } from '../docs/blocks.ts';
import { findFault, readCommands } from '../docs/commands.ts';
import { openWorkplace, type Workplace } from '../docs/workplace.ts';

// The documents, as far as no network is needed (`npm run test:docs` has one): every block says how it is run, links work, commands exist, and blocks
// that only read the vectors are run.

describe('the documents', () => {
  it.each(documents)(
    '%s has only code blocks that are run, written to a file, or say why not',
    (document) => {
      for (const { kind, detail, line } of readSteps(document)) {
        if (kind !== 'run') expect(detail, `${document}, line ${line}`).not.toBe('');
        if (kind === 'run by')
          expect(readFileSync(detail, 'utf8'), `${document}, line ${line}`).toContain(document);
      }
    },
  );

  it('README.md names every command that tests a change', () => {
    const commands = readFileSync('.ci/run', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('npm '));
    expect(commands.length).toBeGreaterThan(1);
    for (const command of commands) expect(readFileSync('README.md', 'utf8')).toContain(`\n${command} `);
  });

  it.each(documents)('%s has links to files that are there', (document) => {
    const links = [...readFileSync(document, 'utf8').matchAll(/\]\(([^)\s]+)\)/g)].map(
      ([, link = '']) => link,
    );
    const files = links.filter((link) => !/^(https?:|#)/.test(link)).map((link) => link.replace(/#.*/, ''));
    expect(files.filter((file) => !existsSync(join(dirname(document), file)))).toEqual([]);
  });

  it.each(documents)('%s has tables with as many cells in each row as in the one above', (document) => {
    const lines = readFileSync(document, 'utf8').split('\n');
    const cells = lines.map((line) => (line.startsWith('|') ? line.match(/(?<!\\)\|/g)?.length : undefined));
    const uneven = lines.filter((_, row) => cells[row - 1] && cells[row] && cells[row] !== cells[row - 1]);
    expect(uneven).toEqual([]);
  });

  it('are found wherever a block stands, a mark before it counts, and one without is a fault', () => {
    const text =
      '- one\n\n      in a list\n\n1. two\n\n   <!-- not run: why -->\n\n   ```sh\n   fenced\n   ```\n\nthree\n\n    indented\n';
    const found = readBlocks(text).map(({ line, text, marks }) => [line, text, marks.get('not run')]);
    expect(found).toEqual([
      [3, 'in a list\n', undefined],
      [9, 'fenced\n', 'why'],
      [15, 'indented\n', undefined],
    ]);
  });

  it('name commands, options and npm scripts that there are', async () => {
    const known = describeCommands(await buildWholeProgram({} as CommandContext));
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    const wrong = documents.flatMap((document) =>
      readCommands(document).flatMap((command) => {
        const fault = findFault(command, known, scripts);
        return fault === undefined ? [] : [`${document}: ${command}: ${fault}`];
      }),
    );
    expect(wrong).toEqual([]);
  });
});

describe('docs/troubleshooting.md', () => {
  const text = readFileSync('docs/troubleshooting.md', 'utf8');

  it('names codes that there are', () => {
    const named = [...text.matchAll(/`([A-Z]{3}_[A-Z_]+|[a-z]+-[a-z]+)`/g)].map(([, code = '']) => code);
    const known = new Set([...Object.keys(errorStatus), ...Object.keys(trustHints), ...troubleKinds]);
    const codes = named.filter((code) => /^(AUT|BIZ|CTX|NET|SCH|POL)_/.test(code) || code.includes('-'));
    expect(codes.length).toBeGreaterThan(30);
    expect(codes.filter((code) => !known.has(code))).toEqual([]);
  });

  it('quotes reasons of a 401 that are given', () => {
    const rows = text.split('\n').filter((line) => line.startsWith('| `AUT_'));
    const quoted = rows.flatMap((row) => [...row.matchAll(/"([^"]+)"/g)].map(([, words = '']) => words));
    const sources = ['request-signature.ts', 'registry-record.ts', 'keys.ts'].map((name) =>
      join('src/protocol', name),
    );
    const given = [...sources, 'src/http/authenticate.ts'].map((file) => readFileSync(file, 'utf8')).join('');
    expect(quoted.length).toBeGreaterThan(8);
    expect(quoted.filter((words) => !given.includes(words))).toEqual([]);
  });
});

describe('vectors/README.md and examples/python', () => {
  let workplace: Workplace;
  beforeAll(async () => {
    workplace = await openWorkplace();
  });
  afterAll(() => workplace?.close());

  const withoutNetwork = ['vectors/README.md', 'examples/python/README.md']
    .flatMap(readSteps)
    .filter(({ kind, text }) => isTaken(kind) && !text.includes('127.0.0.1'));

  it.for(withoutNetwork)('hold at line $line (needs python3 with cryptography)', async (step, context) => {
    const missing = await workplace.findMissing({ needs: ['python3 with cryptography'] });
    if (missing !== undefined) context.skip(`needs ${missing}`);
    const printed = await workplace.take(step);
    for (const line of step.prints) expect(printed).toContain(line);
  });
});

describe('docs/domain-schemas.md', () => {
  let workplace: Workplace;
  beforeAll(async () => {
    workplace = await openWorkplace();
  });
  afterAll(() => workplace?.close());

  const steps = readSteps('docs/domain-schemas.md');
  const firstOnNetwork = steps.findIndex(({ kind }) => kind === 'background');

  it.for(steps.slice(0, firstOnNetwork))('holds at line $line', async (step) => {
    const printed = await workplace.take(step);
    for (const line of step.prints) expect(printed).toContain(line);
  });
});
