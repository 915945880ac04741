// Makes a fresh clone ready: installs when the lock file changed since the last install, builds when a source changed
// since the last build, and says so. Uses nothing but Node, because nothing is installed yet when it first runs.
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

once('node_modules/.installed', ['package.json', 'package-lock.json'], () => {
  console.log('signpost: installing dependencies (first run, about half a minute) …');
  // Not `npm ci`: it refuses a lock file that lacks binaries for platforms that a registry mirror does not carry. What builds is
  // wanted also under NODE_ENV=production.
  run('npm', ['install', '--no-save', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']);
});
once('dist/.built', ['package-lock.json', 'tsconfig.json', ...filesBelow('src')], () => {
  console.log('signpost: building …');
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  run(process.execPath, [join('node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.json']);
  // npx makes it so only when it meets this directory for the first time.
  chmodSync(join(root, 'dist', 'cli', 'main.js'), 0o755);
});

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
    .filter((name) => statSync(join(root, name)).isFile() && !name.endsWith('.test.ts'))
    .sort();
}

function run(command, args) {
  // npm is a script on Windows and needs a shell there; elsewhere it is started directly.
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (result.status === 0) return;
  console.error(`signpost: "${command} ${args.join(' ')}" failed; see the lines above.`);
  process.exit(result.status ?? 1);
}
