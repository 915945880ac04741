import { readFile } from 'node:fs/promises';
import { hasCode } from '../error-code.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { type Json, parseJson } from '../protocol/json.ts';
import { type CommandContext, CommandError, reasonOf } from './command.ts';

export async function readInput(file: string, context: CommandContext): Promise<Buffer> {
  if (file === '-') return context.readStdin();
  try {
    return await readFile(file);
  } catch (error) {
    const isMissing = hasCode(error, 'ENOENT');
    const text = isMissing ? `There is no file ${file}.` : `${file} cannot be read: ${reasonOf(error)}.`;
    throw new CommandError(text, error);
  }
}

export async function readJsonInput(file: string, context: CommandContext): Promise<Json> {
  return parseJsonInput(file, await readInput(file, context));
}

export function parseJsonInput(file: string, bytes: Buffer): Json {
  return explainJson(file, () => parseJson(bytes));
}

export function explainJson<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ProtocolError)
      throw new CommandError(`${file} is not accepted as JSON: ${error.message}.`, error);
    throw error;
  }
}
