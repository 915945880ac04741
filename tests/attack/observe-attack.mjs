// One attack: the honest client before, during and after it, and the state of the service afterwards. The attacker runs in a separate process
// (attacker.mjs), so that its work does not delay the clocks here.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const attackerProgram = fileURLToPath(new URL('./attacker.mjs', import.meta.url));
/** Long enough to see the effect, even with few requests. */
const leastMs = 2_000;
/** How long an attack may take to start, and to stop. */
const beginMs = 180_000;
const recoveryLimitMs = 60_000;
/** This many good answers in a row mean that it has recovered. */
const goodInARow = 15;
const fixedSearches = 200;
const fixedRounds = 3;

export async function observeAttack(scenes, { name, attack, behindProxy, bounds }) {
  const title = behindProxy ? `${name}, behind a proxy` : name;
  const row = { attack: title, broken: [] };
  const { settings, withConsole } = attack;
  const scene = await scenes.open({ settings, behindProxy, withConsole });
  try {
    await observe(scene, { name, row, bounds });
    row.broken.push(...((await attack.findEffects?.(scene, row.told)) ?? []));
    row.memoryMb = Object.fromEntries(
      Object.entries(scene.roles).map(([role, process]) => [role, process.peakMemoryMb() ?? 0]),
    );
    for (const [role, megabytes] of Object.entries(row.memoryMb))
      if (megabytes > bounds.memoryMb) row.broken.push(`${role} took ${megabytes} MB`);
    if (attack.leavesData && Number.isFinite(bounds.ratio)) await compareSearches(scenes, scene, row, bounds);
  } catch (error) {
    row.broken.push(`failed: ${error instanceof Error ? error.stack : error}`);
  } finally {
    await scene.close();
  }
  return row;
}

async function observe(scene, { name, row, bounds }) {
  const { honest, roles } = scene;
  const { requests, perSecond } = bounds;
  await honest.ask(scene, perSecond, (samples) => samples.length >= requests / 5);
  const before = await honest.ask(scene, perSecond, (samples) => countDiscovers(samples) >= requests);
  row.before = await sumUp(honest, before, bounds);

  const health = watchHealth(roles, bounds);
  const attacker = startAttacker(name, scene);
  let since = Number.POSITIVE_INFINITY;
  attacker.underWay.then(() => {
    since = performance.now();
  });
  const begun = Date.now();
  const during = await honest.ask(scene, perSecond, (samples) => {
    if (attacker.failure()) throw attacker.failure();
    if (since === Number.POSITIVE_INFINITY && Date.now() - begun > beginMs) return true;
    return (
      performance.now() - since > leastMs &&
      countDiscovers(samples.filter(({ at }) => at > since)) >= requests
    );
  });
  if (since === Number.POSITIVE_INFINITY) row.broken.push('the attack did not get under way');
  row.told = await attacker.stop();
  row.broken.push(...(await health.stop()));
  row.recoveryMs = await measureRecovery(scene, bounds, row.before);
  row.during = await sumUp(honest, during, bounds);

  if (row.during.p99 > bounds.p99Ms) row.broken.push(`discover p99 of ${row.during.p99} ms`);
  if (row.during.refused > 0) row.broken.push(`${row.during.refused} refused: ${row.during.refusals}`);
  if (row.during.callbackP99 > bounds.callbackMs)
    row.broken.push(`callbacks p99 of ${row.during.callbackP99} ms`);
  if (row.before.refused > 0) row.broken.push(`${row.before.refused} refused before: ${row.before.refusals}`);
  if (row.recoveryMs === undefined) row.broken.push(`not recovered within ${recoveryLimitMs / 1000} s`);
  for (const [role, process] of Object.entries(roles)) {
    if (!process.isRunning()) row.broken.push(`${role} ended: ${process.log.slice(-3).join(' ')}`);
  }
}

/** Checks every role regularly, like a supervisor that would restart it. */
function watchHealth(roles, { p99Ms }) {
  const stopping = new AbortController();
  const silent = new Map();
  const timeoutMs = Math.min(p99Ms * 5, 60_000);
  const watch = async ([role, { url }]) => {
    while (!stopping.signal.aborted) {
      const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(timeoutMs) }).catch(() => {});
      if (!answer?.ok) silent.set(role, (silent.get(role) ?? 0) + 1);
      await delay(500, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const watching = Promise.all(Object.entries(roles).map(watch));
  return {
    /** The missing answers, as a sentence. */
    async stop() {
      stopping.abort();
      await watching;
      return Array.from(
        silent,
        ([role, times]) => `/health of ${role} not answered in ${timeoutMs} ms, ${times} times`,
      );
    },
  };
}

function countDiscovers(samples) {
  return samples.filter(({ kind }) => kind === 'discover').length;
}

async function sumUp(honest, samples, { callbackMs }) {
  const times = samples.filter(({ kind }) => kind === 'discover').map(({ ms }) => ms);
  const refused = samples.filter(({ status }) => status !== 200);
  const callbacks = await honest.waitForCallbacks(samples, callbackMs * 2);
  return {
    requests: samples.length,
    p50: Math.round(percentile(times, 0.5)),
    p99: Math.round(percentile(times, 0.99)),
    refused: refused.length,
    refusals: summary(refused),
    callbackP99: Math.round(percentile(callbacks, 0.99)),
  };
}

/** The kinds of answers, with their counts. */
function summary(refused) {
  const counts = new Map();
  for (const { kind, status, text } of refused) {
    const code = /"code":"(\w+)"/.exec(text)?.[1] ?? '';
    const what = `${kind} ${status} ${code}`.trim();
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, count]) => `${count} × ${what}`).join(', ');
}

/** From the end of the attack until the first of many answers in a row that are as fast as before; undefined without one. */
async function measureRecovery(scene, { perSecond, p99Ms }, { p99 }) {
  const end = performance.now();
  const usualMs = Number.isFinite(p99Ms) ? Math.max(100, p99 * 2) : p99Ms;
  let goodSince;
  let good = 0;
  let seen = 0;
  await scene.honest.ask(scene, perSecond, (samples) => {
    for (const { status, ms, at } of samples.slice(seen)) {
      const isGood = status === 200 && ms <= usualMs;
      if (isGood && good === 0) goodSince = at - ms;
      good = isGood ? good + 1 : 0;
    }
    seen = samples.length;
    return good >= goodInARow || performance.now() - end > recoveryLimitMs;
  });
  return good >= goodInARow ? Math.max(0, Math.round(goodSince - end)) : undefined;
}

/**
 * The attack must not leave the index slower. Compares the same searches on an untouched copy of the index and on this one, in turns, so that a noisy
 * machine affects both alike.
 */
async function compareSearches(scenes, scene, row, bounds) {
  const { honest } = scene;
  // Otherwise the untouched copy would pull the attacker's catalogs.
  await scene.roles.catalog.end();
  const twin = await scenes.openTwin();
  try {
    const rounds = [];
    await honest.askFixed(twin, fixedSearches);
    await honest.askFixed(scene, fixedSearches);
    for (let round = 0; round < fixedRounds; round += 1) {
      const [clean, attacked] = [[], []];
      for (let part = 0; part < fixedSearches / 8; part += 1) {
        clean.push(...(await honest.askFixed(twin, 8)));
        attacked.push(...(await honest.askFixed(scene, 8)));
      }
      const ratio = (fraction) => percentile(attacked, fraction) / percentile(clean, fraction);
      rounds.push({ p50: ratio(0.5), p99: ratio(0.99) });
    }
    const median = (name) =>
      percentile(
        rounds.map((round) => round[name]),
        0.5,
      );
    row.fixed = { p50: median('p50'), p99: median('p99') };
    for (const name of ['p50', 'p99'])
      if (row.fixed[name] > bounds.ratio)
        row.broken.push(`searches after it: ${name} × ${row.fixed[name].toFixed(2)}`);
  } finally {
    await twin.close();
  }
}

function percentile(numbers, fraction) {
  if (numbers.length === 0) return 0;
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(fraction * sorted.length) - 1)];
}

function startAttacker(name, { attacked, people }) {
  const child = fork(attackerProgram, [name]);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = once(child, 'exit').finally(() => process.off('exit', kill));
  let failure;
  const told = [];
  const underWay = new Promise((resolve) => {
    child.on('message', (message) => {
      if (message === 'under way') resolve();
      else if (message.failure) failure = new Error(message.failure);
      else told.push(message);
    });
  });
  exited.then(([code]) => {
    if (code !== 0) failure ??= new Error(`the attacker ended with ${code}`);
  });
  child.send({ ...attacked, people });
  return {
    underWay,
    failure: () => failure,
    /** Its counts. */
    async stop() {
      if (child.connected) child.send('stop');
      await exited;
      return Object.assign({}, ...told);
    },
  };
}
