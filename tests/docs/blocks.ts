import { readFileSync } from 'node:fs';

// The code blocks of a guide, and what is to be done with each. A comment before a block says so:
//
//   <!-- background: TEXT -->   a command that stays; it is ready when it has printed TEXT
//   <!-- file: PATH -->         is written to this file
//   <!-- prints -->             each of its lines stands, in this order, in what the command before it printed
//   <!-- until -->              is repeated until it prints what it should: what it looks for is on its way
//   <!-- needs: A, B -->        is left out where one of them is not installed
//   <!-- not run: REASON -->    is not run
//
// Blocks of `sh` are run. Blocks of `console` have commands after `$ `, each with what it prints below it. Of any other language, only the above.
// In what is printed, `…` stands for anything.

/** The documents all of whose blocks are run. */
export const guides = [
  'docs/beside-onix.md',
  'docs/conformance-checks.md',
  'docs/domain-schemas.md',
  'docs/importing.md',
  'docs/join-a-network.md',
  'docs/operating.md',
  'docs/publishing.md',
  'docs/query-as-an-app.md',
  'docs/run-a-catalog-service.md',
  'docs/run-a-discovery-service.md',
  'docs/self-hosting.md',
  'docs/troubleshooting.md',
  'README.md',
  'examples/python/README.md',
  'vectors/README.md',
];

export interface Step {
  /** Where the block begins. */
  line: number;
  kind: 'run' | 'background' | 'file' | 'not run';
  text: string;
  /** The text of a background command, the path of a file, or why it is not run. */
  detail: string;
  needs: string[];
  /** Lines that it prints. */
  prints: string[];
  /** It is repeated until it prints them. */
  isRepeated: boolean;
}

export function readSteps(guide: string): Step[] {
  const steps: Step[] = [];
  for (const { line, language, text, marks } of readBlocks(guide)) {
    const lines = text.split('\n').filter((one) => one.trim() !== '');
    if (marks.has('prints')) {
      steps.at(-1)?.prints.push(...lines);
      continue;
    }
    const kind = (['background', 'file', 'not run'] as const).find((name) => marks.has(name)) ?? 'run';
    const needs = marks.get('needs')?.split(', ') ?? [];
    const step: Omit<Step, 'text' | 'prints'> = {
      line,
      kind,
      detail: marks.get(kind) ?? '',
      needs,
      isRepeated: marks.has('until'),
    };
    if (kind !== 'run' || language === 'sh') steps.push({ ...step, text, prints: [] });
    else if (language === 'console')
      steps.push(...readConsole(lines).map((typed) => ({ ...step, ...typed })));
    else
      throw new Error(
        `${guide}, line ${line}: nothing says what to do with this block of ${language || 'text'}`,
      );
  }
  return steps;
}

function readConsole(lines: readonly string[]): Pick<Step, 'text' | 'prints'>[] {
  const typed: Pick<Step, 'text' | 'prints'>[] = [];
  for (const line of lines) {
    if (line.startsWith('$ ')) typed.push({ text: line.slice(2), prints: [] });
    else typed.at(-1)?.prints.push(line);
  }
  return typed;
}

interface Block {
  line: number;
  language: string;
  text: string;
  marks: Map<string, string>;
}

function readBlocks(guide: string): Block[] {
  const blocks: Block[] = [];
  let marks = new Map<string, string>();
  let open: Block | undefined;
  for (const [index, line] of readFileSync(guide, 'utf8').split('\n').entries()) {
    if (open) {
      if (line === '```') open = undefined;
      else open.text += `${line}\n`;
      continue;
    }
    const [, name, value = ''] = /^<!-- ([a-z ]+?)(?:: (.+))? -->$/.exec(line) ?? [];
    const [, language] = /^```(.*)$/.exec(line) ?? [];
    if (name !== undefined) marks.set(name, value);
    else if (language !== undefined) {
      open = { line: index + 1, language, text: '', marks };
      blocks.push(open);
      marks = new Map();
    } else if (line.trim() !== '') marks = new Map();
  }
  return blocks;
}
