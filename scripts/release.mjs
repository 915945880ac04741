// Releases: the part that a person runs on main, and the part that the workflow of the tag runs then (.github/workflows/release.yml).
//
//   npm run release -- 0.2.0 --dry-run   prints the changes and makes all published files, in a clean clone; exit code 1 if it would be refused
//   npm run release -- 0.2.0 --dump      writes the demo network as this release stores it, for the test of upgrades (needs DATABASE_URL and pg_dump)
//   npm run release -- 0.2.0             writes version and date into every file that has them, commits and tags; pushes nothing
//   npm run release -- --artifacts DIR   makes everything that is published of the current version: packages, SBOM, release notes, checksums
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { dumpPath, writeDump } from './release-dump.mjs';
import {
  changedFiles,
  compareVersions,
  packageDirectories,
  readPackage,
  sectionOf,
} from './release-files.mjs';

const options = {
  'dry-run': { type: 'boolean' },
  dump: { type: 'boolean' },
  artifacts: { type: 'string' },
};

// Packages contain the file modes of the clone, which depend on this.
process.umask(0o022);

try {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [version] = positionals;
  if (values.artifacts !== undefined) writeArtifacts(values.artifacts);
  else if (values.dump) await writeDump(checkVersion(version));
  else if (values['dry-run']) rehearse(checkVersion(version));
  else release(checkVersion(version));
} catch (error) {
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}

function checkVersion(version = '') {
  const { version: present } = readPackage('.');
  if (!/^\d+\.\d+\.\d+(-rc\.\d+)?$/.test(version))
    throw new Error('Name the new version, such as 0.2.0 or 1.0.0-rc.1.');
  if (compareVersions(version, present) <= 0) throw new Error(`${version} is not after ${present}.`);
  return version;
}

function release(version) {
  const changes = changedFiles(version);
  const [obstacle] = findObstacles(version);
  if (obstacle) throw new Error(obstacle);
  for (const { path, text } of changes) writeFileSync(path, text);
  run('git', 'commit', '--all', '--message', `release: ${version}`);
  const kind = hasSigningKey() ? '--sign' : '--annotate';
  run('git', 'tag', kind, `v${version}`, '--message', `Signpost ${version}`);
  console.log(
    `Committed and tagged v${version}. ${describeSignature()}\nTo publish it:\n  git push origin main v${version}`,
  );
}

/** Everything but the commit, the tag and the steps that need an account. */
function rehearse(version) {
  const changes = changedFiles(version);
  for (const { path, text } of changes) {
    const before = readFileSync(path, 'utf8').split('\n');
    const added = text.split('\n').filter((line) => !before.includes(line) && line !== '');
    console.log(`${path}\n${added.map((line) => `  + ${line}`).join('\n')}`);
  }
  console.log(`git commit, git tag v${version}. ${describeSignature()}\n`);

  const directory = mkdtempSync(join(tmpdir(), `signpost-${version}-`));
  const clone = join(directory, 'clone');
  run('git', 'clone', '--quiet', '.', clone);
  for (const { path, text } of changes) writeFileSync(join(clone, path), text);
  const inClone = (command, ...args) =>
    execFileSync(command, args, { cwd: clone, stdio: ['ignore', 'ignore', 'inherit'] });
  inClone('npm', 'ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error');
  inClone('npm', 'run', 'build');
  inClone(process.execPath, import.meta.filename, '--artifacts', join(directory, 'release'));
  rmSync(clone, { recursive: true });
  console.log(
    `${readFileSync(join(directory, 'release', 'SHA256SUMS'), 'utf8')}in ${join(directory, 'release')}\n`,
  );

  const obstacles = findObstacles(version);
  for (const obstacle of obstacles) console.log(`A release would be refused: ${obstacle}`);
  console.log('Nothing was changed here.');
  if (obstacles.length > 0) process.exitCode = 1;
}

/** Lists everything that a person has to do first. */
function findObstacles(version) {
  const facts = [
    [
      !readPackage('.').repository,
      'package.json has no "repository". Name the address of the repository there: npm compares it with where the package was built.',
    ],
    [
      !existsSync(dumpPath(version)),
      `There is no ${dumpPath(version)}. "npm run release -- ${version} --dump" writes it; commit it.`,
    ],
    [run('git', 'status', '--porcelain') !== '', 'There are changes that are not committed.'],
    [run('git', 'branch', '--show-current') !== 'main', 'This is not the branch main.'],
  ];
  return facts.filter(([isSo]) => isSo).map(([, obstacle]) => obstacle);
}

function hasSigningKey() {
  try {
    return run('git', 'config', 'user.signingkey') !== '';
  } catch {
    return false;
  }
}

function describeSignature() {
  return hasSigningKey()
    ? 'The tag is signed.'
    : 'The tag is not signed: git has no signing key (git config user.signingkey).';
}

function writeArtifacts(directory) {
  mkdirSync(directory, { recursive: true });
  // Packs what is already built and tested: a release must not build again.
  const packed = packageDirectories().map((source) => {
    run('npm', 'pack', `./${source}`, '--silent', '--ignore-scripts', '--pack-destination', directory);
    return `${fileNameOf(source)}.tgz`;
  });
  const sbom = `${fileNameOf('.')}.cdx.json`;
  writeFileSync(join(directory, sbom), makeSbom());
  const changelog = readFileSync('CHANGELOG.md', 'utf8');
  const notes = sectionOf(changelog, readPackage('.').version) || sectionOf(changelog, 'Unreleased');
  writeFileSync(join(directory, 'notes.md'), `${notes}\n`);
  const sums = [...packed, sbom].map((file) => `${digestOf(join(directory, file))}  ${file}`).join('\n');
  writeFileSync(join(directory, 'SHA256SUMS'), `${sums}\n`);
  console.log(sums);
}

/** The SBOM of all packages and their dependencies. */
function makeSbom() {
  const sbom = JSON.parse(run('npm', 'sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--omit=dev'));
  sbom.metadata.component.name = readPackage('.').name; // npm uses the name of the directory
  // The same for everybody who makes it: no random number, and the time of the commit.
  delete sbom.serialNumber;
  sbom.metadata.timestamp = new Date(run('git', 'log', '-1', '--format=%cI')).toISOString();
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

/** The file name that npm gives a package. */
function fileNameOf(directory) {
  const { name, version } = readPackage(directory);
  return `${name.replace('@', '').replace('/', '-')}-${version}`;
}

function digestOf(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function run(command, ...args) {
  return execFileSync(command, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }).trim();
}
