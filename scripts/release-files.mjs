import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// The changes of a release to the files of the repository.

/** Every file that changes, with its new text. */
export function changedFiles(version) {
  const changed = [
    changelog(version),
    ...manifests(version),
    lockFile(version),
    chart(version),
    guide(version),
  ];
  return changed.filter(({ path, text }) => read(path) !== text);
}

/** The text under "Unreleased" becomes the section of this version. */
function changelog(version) {
  const path = 'CHANGELOG.md';
  const text = read(path);
  if (sectionOf(text, 'Unreleased') === '') throw new Error(`${path} has nothing under "Unreleased".`);
  const today = new Date().toISOString().slice(0, 10);
  return { path, text: text.replace(/^## Unreleased\n/m, `## Unreleased\n\n## ${version} (${today})\n`) };
}

function manifests(version) {
  return packageDirectories()
    .map((directory) => join(directory, 'package.json'))
    .map((path) => ({ path, text: read(path).replace(/^( {2}"version": )"[^"]*"/m, `$1"${version}"`) }));
}

function lockFile(version) {
  const path = 'package-lock.json';
  const lock = JSON.parse(read(path));
  lock.version = version;
  for (const [place, locked] of Object.entries(lock.packages))
    if (place === '' || place.startsWith('packages/')) locked.version = version;
  return { path, text: `${JSON.stringify(lock, null, 2)}\n` };
}

/** The chart installs the image with the tag of its appVersion. */
function chart(version) {
  const path = 'deploy/helm/signpost/Chart.yaml';
  const text = read(path)
    .replace(/^version: .*$/m, `version: ${version}`)
    .replace(/^appVersion: .*$/m, `appVersion: "${version}"`);
  return { path, text };
}

/** The guide that unpacks the package. */
function guide(version) {
  const path = 'deploy/README.md';
  return { path, text: read(path).replaceAll(/signpost-\d[\w.-]*\.tgz/g, `signpost-${version}.tgz`) };
}

/** The package of the repository, and the other packages in it. */
export function packageDirectories() {
  const beside = existsSync('packages') ? readdirSync('packages').map((name) => join('packages', name)) : [];
  return ['.', ...beside.filter((directory) => existsSync(join(directory, 'package.json')))];
}

export function readPackage(directory) {
  return JSON.parse(read(join(directory, 'package.json')));
}

/** The lines below a heading of the changelog; the heading may have a date. */
export function sectionOf(changelog, heading) {
  const [, ...sections] = changelog.split(/^## /m);
  const found = sections.find((section) => section.split('\n')[0].split(' ')[0] === heading);
  return found === undefined ? '' : found.slice(found.indexOf('\n')).trim();
}

/** A release candidate sorts before its release. */
export function compareVersions(one, other) {
  const [a, b] = [one, other].map((version) => {
    const [numbers, candidate] = version.split('-rc.');
    return [
      ...numbers.split('.').map(Number),
      candidate === undefined ? Number.MAX_SAFE_INTEGER : Number(candidate),
    ];
  });
  return a.map((number, index) => number - b[index]).find((difference) => difference !== 0) ?? 0;
}

function read(path) {
  return readFileSync(path, 'utf8');
}
