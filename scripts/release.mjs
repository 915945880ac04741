// Releases: what a person does on main, and what the workflow of the tag does then (.github/workflows/release.yml).
//
//   node scripts/release.mjs 0.2.0              version and date into CHANGELOG.md, package.json and the rest; a commit and a tag, nothing is pushed
//   node scripts/release.mjs 0.2.0 --dry-run    says what that would change, and changes nothing
//   node scripts/release.mjs --artifacts DIR    what is published of the present version: package, SBOM, release notes, checksums
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const options = { 'dry-run': { type: 'boolean' }, artifacts: { type: 'string' } };

try {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.artifacts !== undefined) writeArtifacts(values.artifacts);
  else release(positionals[0], values['dry-run'] === true);
} catch (error) {
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}

function release(version, isDry) {
  const { version: present } = readPackage('.');
  refuse(!/^\d+\.\d+\.\d+$/.test(version ?? ''), 'Name the new version, such as 0.2.0.');
  refuse(compare(version, present) <= 0, `${version} is not after ${present}.`);
  const changes = [renamedChangelog(version), ...versionedFiles(version)].filter(
    ({ path, text }) => read(path) !== text,
  );
  if (isDry) return tellChanges(version, changes);

  refuse(run('git', 'status', '--porcelain') !== '', 'There are changes that are not committed.');
  refuse(run('git', 'branch', '--show-current') !== 'main', 'This is not the branch main.');
  for (const { path, text } of changes) writeFileSync(path, text);
  run('git', 'commit', '--all', '--message', `release: ${version}`);
  run('git', 'tag', '--annotate', `v${version}`, '--message', `Signpost ${version}`);
  console.log(`Committed and tagged v${version}. To publish it:\n  git push origin main v${version}`);
}

function tellChanges(version, changes) {
  for (const { path, text } of changes) {
    const before = read(path).split('\n');
    const added = text.split('\n').filter((line) => !before.includes(line) && line !== '');
    console.log(`${path}\n${added.map((line) => `  + ${line}`).join('\n')}`);
  }
  console.log(`git commit, git tag v${version}\n\nNothing was changed.`);
}

/** What is under "Unreleased" becomes the section of this version. */
function renamedChangelog(version) {
  const text = read('CHANGELOG.md');
  refuse(sectionOf(text, 'Unreleased') === '', 'CHANGELOG.md has nothing under "Unreleased".');
  const today = new Date().toISOString().slice(0, 10);
  const heading = `## Unreleased\n\n## ${version} (${today})\n`;
  return { path: 'CHANGELOG.md', text: text.replace(/^## Unreleased\n/m, heading) };
}

/** Every file that has the version of the package: those of npm, of the packages beside it, and of the Helm chart. */
function versionedFiles(version) {
  const packages = [
    '.',
    ...(existsSync('packages') ? readdirSync('packages').map((name) => join('packages', name)) : []),
  ];
  const manifests = packages
    .map((directory) => join(directory, 'package.json'))
    .filter(existsSync)
    .map((path) => ({ path, text: read(path).replace(/^( {2}"version": )"[^"]*"/m, `$1"${version}"`) }));
  const lock = JSON.parse(read('package-lock.json'));
  lock.version = version;
  for (const [path, locked] of Object.entries(lock.packages))
    if (path === '' || path.startsWith('packages/')) locked.version = version;
  const chart = 'deploy/helm/signpost/Chart.yaml';
  const chartText = read(chart)
    .replace(/^version: .*$/m, `version: ${version}`)
    .replace(/^appVersion: .*$/m, `appVersion: "${version}"`);
  return [
    ...manifests,
    { path: 'package-lock.json', text: `${JSON.stringify(lock, null, 2)}\n` },
    { path: chart, text: chartText },
  ];
}

function writeArtifacts(directory) {
  mkdirSync(directory, { recursive: true });
  const { name, version } = readPackage('.');
  const file = `${name.replace('@', '').replace('/', '-')}-${version}`;
  // It is built already: a release is made of what was tested.
  run('npm', 'pack', '--ignore-scripts', '--pack-destination', directory);
  const sbom = run('npm', 'sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--omit=dev');
  writeFileSync(join(directory, `${file}.cdx.json`), `${sbom}\n`);
  const notes = sectionOf(read('CHANGELOG.md'), version) || sectionOf(read('CHANGELOG.md'), 'Unreleased');
  writeFileSync(join(directory, 'notes.md'), `${notes}\n`);
  const sums = [`${file}.tgz`, `${file}.cdx.json`].map(
    (made) =>
      `${createHash('sha256')
        .update(readFileSync(join(directory, made)))
        .digest('hex')}  ${made}`,
  );
  writeFileSync(join(directory, 'SHA256SUMS'), `${sums.join('\n')}\n`);
  console.log(`${sums.join('\n')}`);
}

/** The lines below a heading of the changelog, which may have a date. */
function sectionOf(changelog, heading) {
  const [, ...sections] = changelog.split(/^## /m);
  const found = sections.find((section) => section.split('\n')[0].split(' ')[0] === heading);
  return found === undefined ? '' : found.slice(found.indexOf('\n')).trim();
}

function compare(one, other) {
  const [a, b] = [one, other].map((version) => version.split('.').map(Number));
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

function refuse(isWrong, why) {
  if (isWrong) throw new Error(why);
}

function readPackage(directory) {
  return JSON.parse(read(join(directory, 'package.json')));
}

function read(path) {
  return readFileSync(path, 'utf8');
}

function run(command, ...args) {
  return execFileSync(command, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }).trim();
}
