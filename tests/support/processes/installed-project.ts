import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { freePorts, makeDataDir } from './up-process.ts';

// The packages installed by npm in an empty folder, as users install them. Their dependencies are links to the ones installed here, so no registry is needed.

const run = promisify(execFile);

export interface InstalledProject {
  directory: string;
  tarballs: string[];
  /** The installed package. */
  installed: string;
  /** Ports, and other settings for commands and roles. */
  settings: Record<string, string>;
  /** Runs a shell command in the folder and returns its output. */
  type(line: string, settings?: Record<string, string>): Promise<string>;
  remove(): Promise<void>;
}

export async function installPackages(): Promise<InstalledProject> {
  const { dataDir, remove } = await makeDataDir();
  const directory = join(await realpath(dataDir), 'my project');
  await mkdir(directory);
  // As root, PostgreSQL runs as another user, which needs access to its files.
  await mkdir(join(directory, '.signpost'));
  await chmod(join(directory, '.signpost'), 0o755);
  const settings = { ...(await freePorts()), LOG_LEVEL: 'warn', npm_config_offline: 'true' };
  const type = async (line: string, more: Record<string, string> = {}) => {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...settings, ...more };
    return (await run('sh', ['-c', line], { cwd: directory, env })).stdout;
  };
  // Already built, like for all tests; prepack would build, and install, during the run.
  const packing = ['pack', '--ignore-scripts', '--include-workspace-root', '--workspaces'];
  await run('npm', [...packing, '--pack-destination', directory]);
  const packed = (await readdir(directory)).filter((name) => name.endsWith('.tgz'));
  const overrides = {
    signpost: await linkDependencies('package.json'),
    'signpost-client': await linkDependencies('packages/client/package.json'),
  };
  await writeFile(join(directory, 'package.json'), JSON.stringify({ type: 'module', overrides }));
  await type(`npm install --ignore-scripts ${packed.map((name) => `./${name}`).join(' ')}`);
  const tarballs = packed.map((name) => join(directory, name));
  const installed = join(directory, 'node_modules', 'signpost');
  return { directory, tarballs, installed, settings, type, remove };
}

/** Links each dependency of a package to the installed one. */
async function linkDependencies(file: string): Promise<Record<string, string>> {
  const { dependencies, optionalDependencies } = JSON.parse(await readFile(file, 'utf8'));
  return Object.fromEntries(
    Object.keys({ ...dependencies, ...optionalDependencies }).map((name) => [
      name,
      `file:${resolve('node_modules', name)}`,
    ]),
  );
}
