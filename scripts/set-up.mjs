// Prepares a fresh clone: installs if the lock file changed since the last install, builds if a source changed since the last build, and says so.
// Uses only Node, because nothing is installed when it first runs. With --build-only (`npm run build`, and the set-up of the tests) it does not
// install.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** npm is a script on Windows and needs a shell there; elsewhere it is started directly. */
const here = { cwd: root, shell: process.platform === 'win32' };
// Makes every build the same: with another value, Vite builds the page for debugging, with paths of this machine in it.
process.env.NODE_ENV = 'production';

/** The client package is built from the same source. */
const client = join('packages', 'client');

const installed = ['package.json', join(client, 'package.json'), 'package-lock.json'];
if (!process.argv.includes('--build-only')) once('node_modules/.installed', installed, install);
once(
  'dist/.built',
  ['package-lock.json', 'tsconfig.json', ...['src', 'web', 'build', client].flatMap(filesBelow)],
  () => {
    console.log('signpost: building …');
    for (const folder of ['dist', join(client, 'dist')])
      rmSync(join(root, folder), { recursive: true, force: true });
    // First: the server uses the client as well (src/mcp/client.ts).
    compile(client);
    bundle(client);
    compile('tsconfig.json');
    bundle('build');
    bundle('web');
    // npx makes it executable only when it first sees this directory.
    chmodSync(join(root, 'dist', 'cli', 'main.js'), 0o755);
  },
);

function install() {
  console.log('signpost: installing dependencies (first run, about half a minute) …');
  // Build tools are needed even with NODE_ENV=production. No package needs its install script: src/storage/embedded/binaries.ts makes the links of
  // PostgreSQL.
  const options = ['--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const exact = spawnSync('npm', ['ci', ...options], { ...here, encoding: 'utf8' });
  if (exact.status === 0) return;
  // EUSAGE means that the lock file lacks something that package.json, or another version of npm, asks for. Any other failure, such as a wrong
  // digest, is no reason to install something else.
  if (!exact.stderr?.includes('EUSAGE')) fail('npm ci', exact);
  console.log('signpost: npm ci refuses package-lock.json; npm install uses as much of it as it can …');
  run('npm', ['install', '--no-save', ...options]);
}

function compile(project) {
  run(process.execPath, [join('node_modules', 'typescript', 'bin', 'tsc'), '-p', project]);
}

function bundle(folder) {
  const vite = join('node_modules', 'vite', 'bin', 'vite.js');
  run(process.execPath, [vite, 'build', folder, '--logLevel', 'error']);
}

/** Does the work unless the stamp file says that it was done for exactly these inputs. */
function once(stamp, inputs, work) {
  const state = fingerprint(inputs);
  const stampFile = join(root, stamp);
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === state) return;
  work();
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, state);
}

function fingerprint(files) {
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex');
}

function filesBelow(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((name) => !name.startsWith(join(folder, 'dist')) && !name.includes('node_modules'))
    .filter((name) => statSync(join(root, name)).isFile() && !name.endsWith('.test.ts'))
    .sort();
}

function run(command, args) {
  const result = spawnSync(command, args, { ...here, stdio: 'inherit' });
  if (result.status !== 0) fail(`${command} ${args.join(' ')}`, result);
}

function fail(command, { status, stderr, error }) {
  if (stderr) console.error(stderr);
  console.error(`signpost: "${command}" failed${error ? `: ${error.message}` : '; see the lines above'}.`);
  process.exit(status ?? 1);
}
