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
  const manifests = packageDirectories()
    .map((directory) => join(directory, 'package.json'))
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
  // They are built already: a release is made of what was tested.
  const packed = packageDirectories().map((source) => {
    run('npm', 'pack', `./${source}`, '--silent', '--ignore-scripts', '--pack-destination', directory);
    return `${fileNameOf(source)}.tgz`;
  });
  const sbom = `${fileNameOf('.')}.cdx.json`;
  writeFileSync(join(directory, sbom), makeSbom());
  const changelog = read('CHANGELOG.md');
  const notes = sectionOf(changelog, readPackage('.').version) || sectionOf(changelog, 'Unreleased');
  writeFileSync(join(directory, 'notes.md'), `${notes}\n`);
  const sums = [...packed, sbom].map((file) => `${digestOf(join(directory, file))}  ${file}`).join('\n');
  writeFileSync(join(directory, 'SHA256SUMS'), `${sums}\n`);
  console.log(sums);
}

/** Of all packages, and of what is installed with them. */
function makeSbom() {
  const sbom = JSON.parse(run('npm', 'sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--omit=dev'));
  sbom.metadata.component.name = readPackage('.').name; // npm takes that of the directory
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

/** As npm names what it packs. */
function fileNameOf(directory) {
  const { name, version } = readPackage(directory);
  return `${name.replace('@', '').replace('/', '-')}-${version}`;
}

/** The package of the repository, and those beside it. */
function packageDirectories() {
  const beside = existsSync('packages') ? readdirSync('packages').map((name) => join('packages', name)) : [];
  return ['.', ...beside.filter((directory) => existsSync(join(directory, 'package.json')))];
}

function digestOf(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
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
