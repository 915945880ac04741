import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmod, cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../support/free-port.ts';
import { commandLine, freePorts, makeDataDir } from '../support/processes/up-process.ts';
import { until } from '../support/time.ts';
import type { Step } from './blocks.ts';

// A directory in which the steps of a guide run one after another, with separate ports.

const run = promisify(execFile);
const stepTimeoutMs = 300_000;

export interface Workplace {
  directory: string;
  /** A missing tool, or undefined. */
  findMissing(step: Pick<Step, 'needs'>): Promise<string | undefined>;
  /** A text of the guide with the ports of this workplace. */
  here(text: string): string;
  /** Returns what it printed. */
  take(step: Step): Promise<string>;
  /** Runs a command in it. */
  shell(script: string, stdin?: string): Promise<string>;
  close(): Promise<void>;
}

/**
 * A clone of this repository, with uncommitted changes, in which a guide runs with npm and npx as they are installed.
 *
 * @param installed an installed and built clone whose packages are used; without it, the first command has to install and build
 */
export async function openClone(installed?: Workplace): Promise<Workplace> {
  const home = await makeDataDir();
  const directory = join(home.dataDir, 'signpost');
  await run('git', ['clone', '--quiet', '--local', resolve('.'), directory]);
  const { stdout: changes } = await run('git', ['diff', '--binary', 'HEAD'], { maxBuffer: 2 ** 28 });
  if (changes !== '') {
    const patch = join(home.dataDir, 'changes.patch');
    await writeFile(patch, changes);
    await run('git', ['apply', patch], { cwd: directory });
  }
  if (installed) {
    await symlink(join(installed.directory, 'node_modules'), join(directory, 'node_modules'));
    for (const folder of ['dist', 'packages/client/dist'])
      await cp(join(installed.directory, folder), join(directory, folder), { recursive: true });
  }
  // When started by root, the embedded PostgreSQL runs as another user.
  await mkdir(join(directory, '.signpost'));
  return openPlace(directory, process.env.PATH ?? '', home.remove);
}

/** A directory with the examples and `npx signpost` as built here: for steps that must be fast, because `npm test` runs them. */
export async function openWorkplace(): Promise<Workplace> {
  const home = await makeDataDir();
  const directory = join(home.dataDir, 'project');
  const bin = join(home.dataDir, 'bin');
  await Promise.all([bin, join(directory, '.signpost')].map((path) => mkdir(path, { recursive: true })));
  await Promise.all([directory, join(directory, '.signpost')].map((path) => chmod(path, 0o755)));
  await Promise.all(
    ['examples', 'vectors', 'docs'].map((name) => symlink(resolve(name), join(directory, name))),
  );
  await writeFile(join(bin, 'npx'), `#!/bin/sh\nshift\nexec "${process.execPath}" "${commandLine}" "$@"\n`, {
    mode: 0o755,
  });
  return openPlace(directory, `${bin}:${process.env.PATH}`, home.remove);
}

async function openPlace(directory: string, path: string, remove: () => Promise<void>): Promise<Workplace> {
  const ports = await freePorts();
  const others = new Map(
    await Promise.all(otherPorts.map(async (port) => [port, String(await freePort())] as const)),
  );
  const here = (text: string) =>
    text.replace(/(127\.0\.0\.1[: ]|_PORT=)(40\d\d)\b/g, (whole, before: string, port: string) => {
      const mine = ports[portSettings[port] ?? ''] ?? others.get(port);
      return mine ? `${before}${mine}` : whole;
    });
  const env = {
    PATH: path,
    HOME: process.env.HOME,
    PYTHONDONTWRITEBYTECODE: '1',
    LOG_LEVEL: 'warn',
    ...ports,
  };
  const running: ChildProcess[] = [];
  // Passes exported variables and the directory from one command to the next, like a terminal.
  const terminal = join(dirname(directory), 'terminal.sh');
  await writeFile(terminal, '');

  async function shell(script: string, stdin = ''): Promise<string> {
    // Output and errors in the order of a terminal.
    const shown = run('sh', ['-e', '-c', `exec 2>&1\n${script}`], {
      cwd: directory,
      env,
      timeout: stepTimeoutMs,
    });
    // A command that reads nothing may have ended before this is written.
    shown.child.stdin?.on('error', () => undefined).end(stdin);
    const { stdout } = await shown.catch((error) => {
      throw new Error(`${script}\n\nended with ${error.code}:\n\n${error.stdout}`);
    });
    return stdout;
  }

  async function stay({ text, detail }: Step): Promise<string> {
    // A separate process group, so that it can be ended as a whole.
    const child = spawn('sh', ['-c', here(text)], {
      cwd: directory,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.push(child);
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
    await until(() => said.includes(detail) || child.exitCode !== null, `"${detail}"`, stepTimeoutMs);
    if (!said.includes(detail)) throw new Error(`not "${detail}", but:\n${said}`);
    return said;
  }

  return {
    directory,
    here,
    shell,
    async findMissing({ needs }) {
      for (const need of needs) {
        const [program, , library] = need.split(' ');
        const check = library ? `${program} -c 'import ${library}'` : `command -v ${program}`;
        const isThere = await shell(check).then(
          () => true,
          () => false,
        );
        if (!isThere) return need;
      }
      return undefined;
    },
    async take(step) {
      if (step.kind === 'background') return stay(step);
      if (step.kind === 'run')
        return shell(`. ${terminal}\n${here(step.text)}\n{ export -p; echo "cd '$PWD'"; } > ${terminal}`);
      const file = join(directory, step.detail);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, here(step.text));
      return '';
    },
    async close() {
      const groups = running.flatMap(({ pid }) => (pid === undefined ? [] : [-pid]));
      for (const group of groups) signalGroup(group, 'SIGTERM');
      // A shell ends before its children.
      await until(() => !groups.some((group) => signalGroup(group, 0)), 'everything to end');
      await remove();
    },
  };
}

/** Whether any process is left to get the signal. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(group, signal);
  } catch {
    return false;
  }
}

const portSettings: Record<string, string> = {
  4000: 'CONSOLE_PORT',
  4001: 'REGISTRY_PORT',
  4002: 'CATALOG_PORT',
  4003: 'DISCOVERY_PORT',
  4004: 'PUBLISHER_PORT',
  4005: 'PUBLISHER_TRIGGER_PORT',
};

/** Ports of services and receivers that a guide starts beside the demo network. */
const otherPorts = ['4012', '4013', '4014', '4015', '4016', '4017', '4090'];
