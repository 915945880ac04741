import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import type { FileSection } from '../../import/mapping-file.ts';
import type { Row } from '../../import/row-reader.ts';
import type { Problem } from '../../import/station.ts';
import { CommandError } from '../command.ts';
import type { RowSource } from './rows.ts';

/** The first line after the preamble is the header. Rows are numbered as in a spreadsheet: each line of the file counts. */
export async function readCsv(bytes: Buffer, section: FileSection, file: string): Promise<RowSource> {
  const { delimiter = ',' } = section;
  const { text, skippedLines } = withoutPreamble(decode(bytes, section, file), section, file);
  const parser = parse({ delimiter, relax_column_count: true, relax_quotes: true });
  const records = Readable.from(pieces(Buffer.from(text)))
    .pipe(parser)
    [Symbol.asyncIterator]();
  const next = async (): Promise<string[] | undefined> => {
    const { value, done } = await records.next().catch((error: unknown) => {
      throw unreadable(error, skippedLines, file);
    });
    return done ? undefined : value;
  };
  const columns = ((await next()) ?? []).map((name) => name.trim());
  if (columns.length < 2) {
    throw new CommandError(
      `${file} has no header of several columns, separated by "${delimiter}". The mapping says how it is written: file.delimiter, file.skipLines, file.headerBeginsWith.`,
    );
  }
  return {
    columns,
    async *rows(report) {
      for (let number = skippedLines + 2; ; number += 1) {
        const record = await next();
        if (record === undefined) return;
        const isEmpty = record.every((cell) => cell.trim() === '');
        if (!isEmpty) yield rowOf(record, columns, `row ${number}`, report);
      }
    },
  };
}

/** Yields pieces, so that records are created on demand, not all at once. */
function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += pieceBytes)
    yield bytes.subarray(start, start + pieceBytes);
}

const pieceBytes = 65_536;

function decode(bytes: Buffer, { encoding = 'utf-8' }: FileSection, file: string): string {
  // A byte order mark takes precedence over the mapping.
  const name = marks.find(([mark]) => bytes.subarray(0, mark.length).equals(mark))?.[1] ?? encoding;
  try {
    return new TextDecoder(name, { fatal: true }).decode(bytes);
  } catch (error) {
    const isUnknown = error instanceof RangeError;
    throw new CommandError(
      isUnknown
        ? `The mapping names an unknown encoding: ${name}.`
        : `${file} is not written in ${name}. Name its encoding in the mapping, such as file.encoding: windows-1252.`,
      error,
    );
  }
}

const marks: readonly [mark: Buffer, encoding: string][] = [
  [Buffer.from([0xef, 0xbb, 0xbf]), 'utf-8'],
  [Buffer.from([0xff, 0xfe]), 'utf-16le'],
  [Buffer.from([0xfe, 0xff]), 'utf-16be'],
];

function withoutPreamble(text: string, { skipLines = 0, headerBeginsWith }: FileSection, file: string) {
  let [start, skippedLines] = [0, 0];
  const isBefore = () =>
    skippedLines < skipLines ||
    (headerBeginsWith !== undefined &&
      !text.slice(start).trimStart().replace(/^"/, '').startsWith(headerBeginsWith));
  while (isBefore()) {
    const end = text.indexOf('\n', start);
    if (end === -1) {
      const what =
        headerBeginsWith === undefined
          ? `more than ${skipLines} lines`
          : `a line that begins with "${headerBeginsWith}"`;
      throw new CommandError(`${file} has no header: the mapping expects ${what}.`);
    }
    start = end + 1;
    skippedLines += 1;
  }
  return { text: text.slice(start), skippedLines };
}

function rowOf(
  record: readonly string[],
  columns: readonly string[],
  at: string,
  report: (problem: Problem) => void,
): Row | undefined {
  const surplus = record.slice(columns.length).filter((cell) => cell.trim() !== '');
  if (surplus.length > 0) {
    const why = `has ${record.length} cells instead of ${columns.length}: which cell belongs to which column is unknown`;
    report({ at, why, kind: 'left-out' });
    return undefined;
  }
  const cells = new Map<string, string>();
  for (const [index, column] of columns.entries()) {
    const cell = record[index]?.trim() ?? '';
    if (cell.includes('\0'))
      report({ at, column, why: 'has a character U+0000, which no message may contain', kind: 'value' });
    else if (cell !== '' && !cells.has(column)) cells.set(column, cell);
  }
  return { at, cells };
}

function unreadable(error: unknown, skippedLines: number, file: string): unknown {
  if (!(error instanceof CsvError)) return error;
  const line = typeof error.lines === 'number' ? ` at line ${error.lines + skippedLines}` : '';
  return new CommandError(`${file} cannot be read as CSV${line}: ${error.message}.`, error);
}
