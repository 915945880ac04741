import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

// The release script, in a small project with a separate repository.

const run = promisify(execFile);
const script = resolve('scripts/release.mjs');

describe('the release script', () => {
  let project: string;
  const environment = {
    ...{ PATH: process.env.PATH, HOME: process.env.HOME, npm_config_offline: 'true' },
    ...{ GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@example.org' },
    ...{ GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.org', GIT_CONFIG_GLOBAL: '/dev/null' },
  };
  const inProject = (command: string, ...args: string[]) =>
    run(command, args, { cwd: project, env: environment });
  const release = (...args: string[]) => inProject(process.execPath, script, ...args);
  const refusal = (...args: string[]) =>
    release(...args).then(
      () => 'done',
      ({ stderr }) => stderr.trim(),
    );
  const put = async (path: string, content: string) => {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), content);
  };
  const read = (path: string) => readFile(join(project, path), 'utf8');

  beforeEach(async () => {
    project = await mkdtemp(join(tmpdir(), 'signpost-release-'));
    const manifest = {
      ...{ name: 'signpost', version: '0.1.0', license: 'Apache-2.0', files: ['README.md'] },
      ...{ repository: 'https://git.example/signpost', scripts: { build: 'true' } },
    };
    const dependencies = { colour: 'file:colour' };
    const workspaces = ['packages/*'];
    await put('package.json', `${JSON.stringify({ ...manifest, dependencies, workspaces }, null, 2)}\n`);
    const colour = { version: '1.0.0', license: 'MIT' };
    await put('colour/package.json', JSON.stringify({ name: 'colour', ...colour }));
    const client = { name: 'signpost-client', version: '0.1.0', license: 'Apache-2.0' };
    const packages = {
      '': { name: 'signpost', version: '0.1.0', dependencies, workspaces },
      colour,
      'node_modules/colour': { resolved: 'colour', link: true },
      'node_modules/signpost-client': { resolved: 'packages/client', link: true },
      'packages/client': client,
    };
    const lock = { name: 'signpost', version: '0.1.0', lockfileVersion: 3, requires: true, packages };
    await put('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
    await put(
      'CHANGELOG.md',
      '# Changelog\n\n## Unreleased\n\n- Something new.\n\n## 0.1.0 (2026-01-01)\n\n- The first.\n',
    );
    await put('deploy/helm/signpost/Chart.yaml', 'name: signpost\nversion: 0.1.0\nappVersion: "0.1.0"\n');
    await put('README.md', 'Read me.\n');
    await put('deploy/README.md', 'tar -xzf signpost-0.1.0.tgz\n');
    await put('tests/fixtures/releases/0.2.0.sql.gz', '');
    await put('packages/client/package.json', `${JSON.stringify(client, null, 2)}\n`);
    await put('packages/client/README.md', 'Read me.\n');
    await inProject('git', 'init', '--quiet', '--initial-branch', 'main');
    await inProject('git', 'add', '--all');
    await inProject('git', 'commit', '--quiet', '--message', 'start');
  });
  afterEach(() => rm(project, { recursive: true, force: true }));

  it('says in a dry run what it would change, makes what would be published, and changes nothing', async () => {
    const { stdout } = await release('0.2.0', '--dry-run');
    expect(stdout).toMatch(/^ {2}\+ ## 0\.2\.0 \(\d{4}-\d\d-\d\d\)$/m);
    for (const file of ['package.json', 'packages/client/package.json', 'deploy/helm/signpost/Chart.yaml'])
      expect(stdout).toContain(`${file}\n  + `);
    expect(stdout).toContain('The tag is not signed: git has no signing key');
    const made = /^in (.*)$/m.exec(stdout)?.[1] ?? '';
    expect(await readFile(join(made, 'notes.md'), 'utf8')).toBe('- Something new.\n');
    await run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: made });
    expect(await readFile(join(made, 'SHA256SUMS'), 'utf8')).toContain('  signpost-client-0.2.0.tgz\n');
    await rm(dirname(made), { recursive: true });
    expect((await inProject('git', 'status', '--porcelain')).stdout).toBe('');
    expect((await inProject('git', 'tag')).stdout).toBe('');
  });

  it('refuses while package.json names no repository, which a dry run says after everything else', async () => {
    await put('package.json', (await read('package.json')).replace('https://git.example/signpost', ''));
    await inProject('git', 'commit', '--quiet', '--all', '--message', 'no repository');
    expect(await refusal('0.2.0')).toContain('package.json has no "repository"');
    const { code, stdout } = await release('0.2.0', '--dry-run').catch((error) => error);
    expect(code).toBe(1);
    expect(stdout).toContain('A release would be refused: package.json has no "repository"');
    const made = /^in (.*)$/m.exec(stdout)?.[1] ?? '';
    await run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: made });
    await rm(dirname(made), { recursive: true });
  });

  it('refuses without a dump for the test of upgrades, and writes none into a database that it is not given', async () => {
    expect(await refusal('0.3.0')).toContain('There is no tests/fixtures/releases/0.3.0.sql.gz.');
    expect(await refusal('0.3.0', '--dump')).toContain('Set DATABASE_URL to an empty database');
  });

  it('knows that a release candidate is before its release', async () => {
    await put('tests/fixtures/releases/1.0.0-rc.2.sql.gz', '');
    await inProject('git', 'add', '--all');
    await inProject('git', 'commit', '--quiet', '--message', 'dump');
    await release('1.0.0-rc.2');
    for (const earlier of ['0.2.0', '1.0.0-rc.1', '1.0.0-rc.2'])
      expect(await refusal(earlier)).toBe(`release: ${earlier} is not after 1.0.0-rc.2.`);
    expect(await refusal('1.0.0')).toContain('nothing under "Unreleased"');
  });

  it('writes the version everywhere, commits and tags', async () => {
    const { stdout } = await release('0.2.0');
    expect(JSON.parse(await read('package.json')).version).toBe('0.2.0');
    const lock = JSON.parse(await read('package-lock.json'));
    expect([lock.version, lock.packages[''].version]).toEqual(['0.2.0', '0.2.0']);
    expect(lock.packages['packages/client'].version).toBe('0.2.0');
    expect(lock.packages.colour.version).toBe('1.0.0');
    expect(await read('deploy/README.md')).toContain('signpost-0.2.0.tgz');
    expect(await read('deploy/helm/signpost/Chart.yaml')).toContain('version: 0.2.0\nappVersion: "0.2.0"\n');
    expect(await read('CHANGELOG.md')).toMatch(/## Unreleased\n\n## 0\.2\.0 \(.*\)\n\n- Something new\./);
    expect((await inProject('git', 'log', '-1', '--format=%s %D')).stdout).toContain('release: 0.2.0');
    expect((await inProject('git', 'tag')).stdout).toBe('v0.2.0\n');
    expect(stdout).toContain('The tag is not signed');
  });

  it('refuses a version that is not later, an empty changelog, and changes that are not committed', async () => {
    expect(await refusal('0.1.0')).toBe('release: 0.1.0 is not after 0.1.0.');
    expect(await refusal('next')).toContain('Name the new version');
    await put('README.md', 'Read me again.\n');
    expect(await refusal('0.2.0')).toContain('not committed');
    await put('CHANGELOG.md', '# Changelog\n\n## Unreleased\n\n## 0.1.0\n\n- The first.\n');
    expect(await refusal('0.2.0')).toContain('nothing under "Unreleased"');
  });

  it('makes package, SBOM of what is installed with it, notes and checksums', async () => {
    await release('--artifacts', 'out');
    const sbom = JSON.parse(await read('out/signpost-0.1.0.cdx.json'));
    expect(sbom.bomFormat).toBe('CycloneDX');
    expect(sbom.metadata.component).toMatchObject({ name: 'signpost', purl: 'pkg:npm/signpost@0.1.0' });
    const purls = sbom.components.map(({ purl }: { purl: string }) => purl);
    expect(purls.sort()).toEqual(['pkg:npm/colour@1.0.0', 'pkg:npm/signpost-client@0.1.0']);
    expect(await read('out/notes.md')).toBe('- The first.\n');
    for (const name of ['signpost-0.1.0.tgz', 'signpost-client-0.1.0.tgz', 'signpost-0.1.0.cdx.json'])
      expect(await read('out/SHA256SUMS')).toContain(`  ${name}\n`);
    await run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: join(project, 'out') });
  });
});

describe('of this project, the release script', () => {
  it('knows every file that has its version', async () => {
    const { changedFiles } = await import(resolve('scripts/release-files.mjs'));
    const changed: { path: string; text: string }[] = changedFiles('99.0.0-rc.1');
    expect(changed.map(({ path }) => path)).toEqual([
      'CHANGELOG.md',
      'package.json',
      'packages/client/package.json',
      'package-lock.json',
      'deploy/helm/signpost/Chart.yaml',
      'deploy/README.md',
    ]);
    for (const { path, text } of changed) expect(text, path).toContain('99.0.0-rc.1');
  });

  it('is what the workflow of a tag calls, with provenance', async () => {
    const { on, jobs, permissions } = parse(await readFile('.github/workflows/release.yml', 'utf8'));
    expect(on.push.tags).toEqual(['v*']);
    expect(permissions).toEqual({ contents: 'read' });
    const steps: { run?: string }[] = Object.values<{ steps: { run?: string }[] }>(jobs).flatMap(
      (job) => job.steps,
    );
    const commands = steps.map((step) => step.run ?? '').join('\n');
    expect(commands).toContain('npm run release -- --artifacts');
    expect(commands).toMatch(/npm publish .*--provenance/);
    expect(jobs.package.permissions['id-token']).toBe('write');
  });
});

describe('the workflows', () => {
  it.each(readdirSync('.github/workflows'))(
    '%s is YAML, may read only, and calls npm scripts that are there',
    async (name) => {
      const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
      const { jobs, permissions } = parse(await readFile(`.github/workflows/${name}`, 'utf8'));
      expect(permissions).toEqual({ contents: 'read' });
      const commands = Object.values<{ steps: { run?: string }[] }>(jobs)
        .flatMap(({ steps }) => steps.map((step) => step.run ?? ''))
        .join('\n');
      const called = [...commands.matchAll(/\bnpm (?:run ([\w:]+)|(test)\b)/g)].map(
        ([, run, test]) => run ?? test,
      );
      expect(called.length).toBeGreaterThan(0);
      expect(Object.keys(scripts)).toEqual(expect.arrayContaining(called));
    },
  );

  it('run every suite but those that want a machine of their own', async () => {
    const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
    const files = ['test.yml', 'nightly.yml'].map((name) => readFile(`.github/workflows/${name}`, 'utf8'));
    const text = (await Promise.all(files)).join('');
    const suites = Object.keys(scripts).filter((name) => name.startsWith('test:'));
    const missing = suites.filter((name) => !text.includes(`npm run ${name}\n`));
    // test:ci runs packages and short faults, and test:docs README.md.
    expect(missing.sort()).toEqual([
      'test:all',
      'test:attack',
      'test:blocked',
      'test:package',
      'test:readme',
      'test:short-faults',
    ]);
  });
});

it('the update bot looks after every action, lock file and image', async () => {
  const { updates } = parse(await readFile('.github/dependabot.yml', 'utf8'));
  const watched = updates.flatMap(
    ({ directory, directories, ...update }: Record<string, string & string[]>) =>
      [directory ?? directories].flat().map((place) => `${update['package-ecosystem']} ${place}`),
  );
  const { stdout } = await run('git', ['ls-files', '*package-lock.json', '*Dockerfile']);
  const files = stdout.trim().split('\n');
  const wanted = files.map((file) => {
    const place = `/${dirname(file)}`.replace('/.', '/');
    return `${file.endsWith('Dockerfile') ? 'docker' : 'npm'} ${place}`;
  });
  expect(watched.sort()).toEqual(['github-actions /', ...wanted].sort());
});
