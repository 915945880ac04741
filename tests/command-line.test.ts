import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { commandFiles } from '../src/cli/program.ts';
import { hasCommand } from './support/reverse-proxy.ts';
import { commandLine } from './support/up-process.ts';

// The command line as a process: what it loads, and what it says of itself.

const run = promisify(execFile);
const lister = pathToFileURL(resolve('tests/support/list-modules.mjs')).href;

/** How many modules a command has loaded, and of which packages; also of a command that fails. */
async function loadedBy(
  args: readonly string[],
  env = process.env,
): Promise<{ loaded: number; packages: Set<string | undefined> }> {
  const program = run(process.execPath, ['--import', lister, commandLine, ...args], { env });
  const { stderr } = await program.catch((failed: { stderr: string }) => failed);
  const urls = [...stderr.matchAll(/^loaded (.*)$/gm)].map(([, url = '']) => url);
  return { loaded: urls.length, packages: new Set(urls.map(packageOf).filter(Boolean)) };
}

/** Commands whose storage modules are loaded with them: pg and the log. */
const onDatabase = ['registry', 'catalog', 'deliveries', 'crawl', 'migrate'];
/** An address where nobody listens. */
const nobody = 'http://127.0.0.1:9';

const packageOf = (url: string) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];

describe('the command line', () => {
  it.each([['--version'], ['--help'], ['keys', 'list', '--help'], ['completion', 'bash', '--help']])(
    'loads no other package than commander for %s %s',
    async (...args) => {
      const { loaded, packages } = await loadedBy(args.filter(Boolean));
      expect([...packages]).toEqual(['commander']);
      expect(loaded).toBeLessThan(60);
    },
  );

  it('loads no other package than commander for the help of any command, but for those that work on the database', async () => {
    for (const name of commandFiles.flatMap(({ commands }) => Object.keys(commands))) {
      const { packages } = await loadedBy([name, '--help']);
      if (!onDatabase.includes(name)) expect([...packages], name).toEqual(['commander']);
      for (const heavy of ['fastify', 'ajv', 'typebox', 'undici'])
        expect(packages, name).not.toContain(heavy);
    }
  });

  it('sends a request without server and validators, which only a callback needs', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'signpost-send-'));
    try {
      const args = ['--method', 'GET', '--to', `${nobody}/catalog/subscription`, '--as', 'a.example.org'];
      const env = { ...process.env, DATA_DIR: directory, REGISTRY_URL: nobody };
      const { packages } = await loadedBy(
        ['send', ...args, '--key', Buffer.alloc(32, 7).toString('base64')],
        env,
      );
      for (const heavy of ['fastify', 'ajv', 'typebox', 'undici', 'pg'])
        expect(packages).not.toContain(heavy);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('gives every command --json, but for the one that prints a script', () => {
    const bash = execFileSync(process.execPath, [commandLine, 'completion', 'bash'], { encoding: 'utf8' });
    const offered = [...bash.matchAll(/^ {4}'([^']*)'\) offered='([^']*)' ;;$/gm)].map(
      ([, at = '', words = '']) => ({
        at: at.trim(),
        words: words.split(' '),
      }),
    );
    const isGroup = ({ words }: { words: string[] }) => words.includes('help');
    const commands = offered.filter((one) => one.words.includes('--help') && !isGroup(one));
    expect(commands.length).toBeGreaterThan(40);
    expect(commands.filter(({ words }) => !words.includes('--json')).map(({ at }) => at)).toEqual([
      'completion',
    ]);
  });

  it('names the command that was probably meant', async () => {
    await expect(run(process.execPath, [commandLine, 'discovr'])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Did you mean discover?'),
    });
  });
});

describe('signpost completion', () => {
  const script = (shell: string) =>
    execFileSync(process.execPath, [commandLine, 'completion', shell], { encoding: 'utf8' });

  /** What bash offers at the end of a line. */
  function complete(bash: string, line: string): string[] {
    const words = line.split(' ');
    const asked = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _signpost; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = spawnSync('bash', ['-c', `${bash}\n${asked}`], { encoding: 'utf8' });
    return stdout.split('\n').filter((word) => word !== '');
  }

  it('has bash offer commands, subcommands and options where they belong', () => {
    const bash = script('bash');
    const listed = commandFiles.flatMap(({ commands }) => Object.keys(commands));
    expect(complete(bash, 'signpost ')).toEqual([...listed, 'help', '--version', '--help']);
    expect(complete(bash, 'signpost dis')).toEqual(['discover']);
    expect(complete(bash, 'signpost crawl ')).toEqual(expect.arrayContaining(['status', 'now', 'log']));
    expect(complete(bash, 'signpost registry key r')).toEqual(['revoke']);
    expect(complete(bash, 'signpost discover fast charger --ne')).toEqual(['--near', '--network']);
    expect(complete(bash, 'signpost completion ')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
    expect(complete(bash, 'signpost send body.json --key ')).toEqual([]); // so that bash offers files
  });

  for (const shell of ['bash', 'zsh', 'fish'])
    it.skipIf(!hasCommand(shell))(`writes a script that ${shell} can read (needs ${shell})`, () => {
      const directory = mkdtempSync(join(tmpdir(), 'signpost-completion-'));
      try {
        const file = join(directory, `signpost.${shell}`);
        writeFileSync(file, script(shell));
        expect(spawnSync(shell, ['-n', file], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
      } finally {
        rmSync(directory, { recursive: true });
      }
    });

  it('knows no other shell', async () => {
    const asked = run(process.execPath, [commandLine, 'completion', 'cmd']);
    const stderr = expect.stringContaining('Allowed choices are bash, zsh, fish');
    await expect(asked).rejects.toMatchObject({ code: 1, stderr });
  });
});
