import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { commands as listedCommands } from '../../src/cli/program.ts';
import { hasCommand } from '../support/processes/reverse-proxy.ts';
import { commandLine } from '../support/processes/up-process.ts';

// The command line as a process: the modules that it loads, and its help and version.

const run = promisify(execFile);
const lister = pathToFileURL(resolve('tests/support/processes/list-modules.mjs')).href;

/** The number of modules that a command loads, and their packages; also for commands that fail. Commands that listen are stopped. */
function loadedBy(args: readonly string[], settings: Record<string, string> = {}): Promise<Loaded> {
  return loadedByNode([commandLine, ...args], settings);
}

interface Loaded {
  loaded: number;
  packages: Set<string | undefined>;
}

async function loadedByNode(args: readonly string[], settings: Record<string, string> = {}): Promise<Loaded> {
  const child = spawn(process.execPath, ['--import', lister, ...args], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (text.includes('Listening on')) child.kill('SIGINT');
  });
  await once(child, 'close');
  const urls = [...said.matchAll(/^loaded (.*)$/gm)].map(([, url = '']) => url);
  return { loaded: urls.length, packages: new Set(urls.map(packageOf).filter(Boolean)) };
}

/** Packages that take long to load. The build bundles parts of TypeBox and undici (npm run build). */
const heavy = [
  ...['fastify', 'ajv', 'typebox', 'undici', 'pg', 'pino', 'pino-pretty', 'prom-client', 're2js', 'yaml'],
];
/** Commands whose storage modules are loaded with them. */
const onDatabase = ['registry', 'catalog', 'deliveries', 'operators', 'crawl', 'migrate'];
/** An address where nothing listens. */
const nobody = 'http://127.0.0.1:9';

const packageOf = (url: string) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];

describe('the command line', () => {
  const key = ['--as', 'a.example.org', '--key', Buffer.alloc(32, 7).toString('base64')];
  const dataDir = mkdtempSync(join(tmpdir(), 'signpost-command-'));
  afterAll(() => rmSync(dataDir, { recursive: true }));

  it.each([['--version'], ['--help'], ['keys', 'list', '--help'], ['completion', 'bash', '--help']])(
    'loads no other package than commander for %s %s',
    async (...args) => {
      const { loaded, packages } = await loadedBy(args.filter(Boolean));
      expect([...packages]).toEqual(['commander']);
      expect(loaded).toBeLessThan(60);
    },
  );

  it('loads no other package than commander with any command, but for those that work on the database', async () => {
    const script = `
      import { commands } from ${JSON.stringify(pathToFileURL(join(dirname(commandLine), 'program.js')))};
      for (const name in commands) if (!${JSON.stringify(onDatabase)}.includes(name)) await commands[name][1]();`;
    const { packages } = await loadedByNode(['--input-type=module', '--eval', script]);
    expect([...packages]).toEqual(['commander']);
  });

  it('loads nothing of the Model Context Protocol, but for the one command that speaks it', async () => {
    const { packages: ofAll } = await loadedBy(['completion', 'bash']);
    expect(ofAll).not.toContain('@modelcontextprotocol/sdk');
    const settings = { DATA_DIR: dataDir, REGISTRY_URL: nobody, CONSUMER_PRIVATE_KEY: key.at(-1) ?? '' };
    for (const args of [
      ['discover', 'charger', '--to', nobody],
      ['doctor', 'a.example.org'],
      ['mcp', '--help'],
    ])
      expect((await loadedBy(args, settings)).packages).not.toContain('@modelcontextprotocol/sdk');
    expect((await loadedBy(['mcp'], settings)).packages).toContain('@modelcontextprotocol/sdk');
  });

  it('loads no server and no validator with all commands', async () => {
    const { packages } = await loadedBy(['completion', 'bash']);
    for (const name of ['fastify', 'ajv', 'typebox', 'undici']) expect(packages).not.toContain(name);
  });

  const publishFile = resolve('examples', 'publish-chargers.json');

  it.each([
    ['send', '--method', 'GET', '--to', `${nobody}/catalog/subscription`, ...key],
    ['send', publishFile, '--action', 'catalog/publish', '--to', nobody, '--wait', ...key],
    ['discover', 'charger', '--to', nobody, ...key],
    ['publish', publishFile, '--to', nobody, ...key],
    ['listen', '--listen', '127.0.0.1:0', '--as', 'a.example.org'],
    ['debug', 'signature', 'no-such-file'],
    ['schema', 'list'],
    ['verify', nobody],
    ['doctor', 'a.example.org'],
  ])('loads no server, validator, log or database for %s %s', async (...args) => {
    const { packages } = await loadedBy(args, { DATA_DIR: dataDir, REGISTRY_URL: nobody });
    expect([...packages].filter((name) => heavy.includes(name ?? ''))).toEqual([]);
  });

  it.each([
    ['status'],
    ['index', 'status'],
    ['catalog', 'list'],
    ['crawl', 'status'],
    ['crawl', 'log'],
    ['deliveries', 'list'],
    ['registry', 'list'],
    ['migrate'],
  ])('loads only the driver of the database, and a part of our modules, for %s %s', async (...args) => {
    const DATABASE_URL = 'postgres://nobody@127.0.0.1:9/none';
    const { packages, loaded } = await loadedBy(args.filter(Boolean), { DATA_DIR: dataDir, DATABASE_URL });
    expect([...packages].filter((name) => heavy.includes(name ?? ''))).toEqual(['pg']);
    expect(loaded).toBeLessThan(150);
  });

  it('gives every command --json, but for those that print a script or JSON anyway', () => {
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
      'export datex',
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

  /** The completions that bash offers at the end of a line. */
  function complete(bash: string, line: string): string[] {
    const words = line.split(' ');
    const asked = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _signpost; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = spawnSync('bash', ['-c', `${bash}\n${asked}`], { encoding: 'utf8' });
    return stdout.split('\n').filter((word) => word !== '');
  }

  it('has bash offer commands, subcommands and options where they belong', () => {
    const bash = script('bash');
    const listed = Object.keys(listedCommands);
    expect(complete(bash, 'signpost ')).toEqual([...listed, 'help', '--version', '--help']);
    expect(complete(bash, 'signpost dis')).toEqual(['discover']);
    expect(complete(bash, 'signpost crawl ')).toEqual(expect.arrayContaining(['status', 'now', 'log']));
    expect(complete(bash, 'signpost registry membership r')).toEqual(['remove']);
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
