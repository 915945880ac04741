import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import MarkdownIt, { type Token } from 'markdown-it';

// The code blocks of a document, also in lists and indented, and how each is run. A comment before a block says so:
//
//   <!-- background: TEXT -->   a command that keeps running; it is ready when it has printed TEXT
//   <!-- file: PATH -->         is written to this file
//   <!-- prints -->             its lines appear, in this order, in the output of the command before it
//   <!-- until -->              is repeated until it prints the expected lines, because the result takes a while
//   <!-- needs: A, B -->        is skipped unless all of these are installed
//   <!-- run by: FILE -->       is run by this test, which names the document
//   <!-- not run: REASON -->    is not run
//
// Blocks of `sh` are run. Blocks of `console` have commands after `$ `, each with its output below. Blocks of other languages need one of these comments.
// In outputs, `…` stands for any text.

/** Every Markdown document of the project. */
export const documents: readonly string[] = listDocuments('.');

/** Documents with something to run. */
export const findGuides = () =>
  documents.filter((document) => readSteps(document).some(({ kind }) => isTaken(kind)));

export const isTaken = (kind: Step['kind']) => kind !== 'not run' && kind !== 'run by';

const markdown = new MarkdownIt({ html: true });

export interface Step {
  /** Where the block begins. */
  line: number;
  kind: 'run' | 'background' | 'file' | 'run by' | 'not run';
  language: string;
  text: string;
  /** The text of a background command, the path of a file, the test that runs it, or the reason why it is not run. */
  detail: string;
  needs: string[];
  /** Lines of its output. */
  prints: string[];
  /** It is repeated until it prints them. */
  isRepeated: boolean;
}

export function readSteps(document: string): Step[] {
  const steps: Step[] = [];
  for (const { line, language, text, marks } of readBlocks(readFileSync(document, 'utf8'))) {
    const lines = text.split('\n').filter((one) => one.trim() !== '');
    if (marks.has('prints')) {
      steps.at(-1)?.prints.push(...lines);
      continue;
    }
    const kind =
      (['background', 'file', 'run by', 'not run'] as const).find((name) => marks.has(name)) ?? 'run';
    const step: Omit<Step, 'text' | 'prints'> = {
      line,
      kind,
      language,
      detail: marks.get(kind) ?? '',
      needs: marks.get('needs')?.split(', ') ?? [],
      isRepeated: marks.has('until'),
    };
    if (kind !== 'run' || language === 'sh') steps.push({ ...step, text, prints: [] });
    else if (language === 'console')
      steps.push(...readConsole(lines).map((typed) => ({ ...step, ...typed })));
    else
      throw new Error(
        `${document}, line ${line}: nothing says what to do with this block of ${language || 'text'}`,
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

export function readBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let marks = new Map<string, string>();
  for (const token of markdown.parse(text, {})) {
    if (token.type === 'html_block') {
      const [, name, value = ''] = /^<!-- ([a-z ]+?)(?:: (.+))? -->$/.exec(token.content.trim()) ?? [];
      if (name !== undefined) marks.set(name, value);
      continue;
    }
    if (token.type === 'fence' || token.type === 'code_block')
      blocks.push({ line: (token.map?.[0] ?? 0) + 1, language: token.info, text: token.content, marks });
    marks = new Map();
  }
  return blocks;
}

/** The text in single backquotes in a document. */
export function readInlineCode(document: string): string[] {
  const inline = markdown.parse(readFileSync(document, 'utf8'), {}).flatMap(({ children }) => children ?? []);
  return inline.filter(isCode).map(({ content }) => content);
}

const isCode = ({ type }: Token) => type === 'code_inline';

/** Skips generated and downloaded files, and other projects. */
function listDocuments(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(
    ({ name }) => !name.startsWith('.') && name !== 'node_modules' && name !== 'dist',
  );
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return path.endsWith('.md') ? [path] : [];
    const isClone = existsSync(join(path, '.git'));
    return entry.isDirectory() && !isClone ? listDocuments(path) : [];
  });
}
