import { describe, expect, it } from 'vitest';
import { silentContext } from '../../tests/support/processes/command.ts';
import { buildProgram, commands } from './program.ts';

const listed = Object.keys(commands);

describe('the commands of the program', () => {
  it('are all in the list, each with a sentence, before any of them is loaded', async () => {
    const program = await buildProgram(silentContext(), []);
    expect(program.commands.map((command) => command.name())).toEqual(listed);
    for (const command of program.commands) expect(command.description(), command.name()).not.toBe('');
  });

  it.each([
    [['listen', '--port', '1'], 'signpost listen'],
    [['import', 'csv'], 'signpost import csv'],
    [['frobnicate'], 'signpost'],
  ])('called in a wrong way, as %j, lead to the help of %s', async (args, command) => {
    const notes: string[] = [];
    const context = { ...silentContext(), note: (text: string) => void notes.push(text) };
    const program = await buildProgram(context, args);
    for (const one of [program, ...program.commands.flatMap((sub) => [sub, ...sub.commands])])
      one.exitOverride();
    await expect(program.parseAsync(args, { from: 'user' })).rejects.toThrow();
    expect(notes.join('\n')).toContain(`(${command} --help `);
  });

  it('are loaded one at a time, also for their help', async () => {
    for (const args of [
      ['keys', 'list'],
      ['help', 'keys'],
    ]) {
      const program = await buildProgram(silentContext(), args);
      const loaded = program.commands.filter(({ commands, options }) => commands.length + options.length > 0);
      expect(loaded.map((command) => command.name())).toEqual(['keys']);
    }
  });
});
