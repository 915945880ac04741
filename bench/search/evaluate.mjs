// A process that evaluates questions and reports to its parent how long each took: node evaluate.mjs JOB.json, by fork.
//
// The job `after restart` asks only the first questions of a new process, and only our engine. All others start with different questions for warm-up;
// then they ask all engines, or only ours, each question in turns, for the first time in this process, and later ours once more.
import { readFileSync } from 'node:fs';
import { ProtocolError } from '../../dist/protocol/errors.js';
import { compareAnswers } from './compare.mjs';
import { indexes, openFed, openOpenSearch, openOurs, openPlain } from './engines.mjs';
import { countProcessorMs } from './processor-time.mjs';
import { createLedger } from './questions.mjs';

const job = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const data = await import(`./${job.data}.mjs`);
const kinds = Object.entries(data.questionsOf(job.kept));
const ledger = createLedger();
/** An engine that takes longer for a kind is not asked further in that round. */
const patienceMs = 5_000;

const ours = await openOurs(job);
const engines =
  job.isRestart || job.isAlone
    ? { ours }
    : {
        ours,
        ...(job.openSearchUrl && {
          fed: await openFed(job),
          openSearch: openOpenSearch(job, indexes.loaded),
          merged: openOpenSearch(job, indexes.merged),
        }),
        ...(!job.withoutPostgresql && { plain: await openPlain(job) }),
      };
try {
  process.send(job.isRestart ? await askFirst(job.questions) : await evaluate());
} finally {
  for (const engine of Object.values(engines)) await engine.close();
}
process.disconnect();

/** All kinds in turn, as they reach a restarted service. */
async function askFirst(count) {
  const limited = kinds.filter(([name]) => name !== 'no limit');
  const taken = [];
  for (let n = 0; n < count; n += 1) {
    const [, questions] = limited[n % limited.length];
    // Each process of a run asks different questions, because PostgreSQL and the operating system cache, too.
    const index = job.skip + job.round * Math.ceil(count / limited.length) + Math.floor(n / limited.length);
    const question = questions[index % questions.length];
    ledger.first(question);
    taken.push((await timed(ours, question)).ms);
  }
  return { taken };
}

async function evaluate() {
  const { rounds, perRound, warmUps, skip = 0 } = job;
  const measured = new Map();
  for (const [name, questions] of kinds) {
    const others = Math.min(Math.ceil(warmUps / kinds.length), questions.length - 1);
    for (const [engine, opened] of Object.entries(engines))
      for (const question of within(patienceMs, questions.slice(-others))) {
        if (engine === 'ours') ledger.first(question);
        await timed(opened, question);
      }
    const asked = questions.slice(skip, Math.min(skip + rounds * perRound, questions.length - others));
    measured.set(name, {
      questions: asked,
      asked: [],
      times: emptyTimes(),
      processor: emptyTimes(),
      warm: [],
      failed: 0,
      wrong: [],
      overlaps: emptyTimes(),
    });
  }
  for (let round = 0; round < rounds; round += 1) {
    console.error(`bench: asks, round ${round + 1} of ${rounds} …`);
    for (const kind of measured.values())
      await measureRound(kind, kind.questions.slice(round * perRound, (round + 1) * perRound), round);
  }
  for (const kind of measured.values())
    for (const question of within(patienceMs * rounds, kind.asked)) {
      ledger.again(question);
      kind.warm.push((await timed(ours, question)).ms);
    }
  const { rss } = process.memoryUsage();
  const rows = [...measured].map(([name, { questions: _, asked: __, ...kind }]) => ({ name, ...kind }));
  return { kinds: rows, rss };
}

function emptyTimes() {
  return Object.fromEntries(Object.keys(engines).map((name) => [name, []]));
}

/** Another engine goes first with each question. */
async function measureRound(kind, questions, round) {
  const names = Object.keys(engines);
  const spent = Object.fromEntries(names.map((name) => [name, 0]));
  const pids = {};
  for (const name of names) pids[name] = await engines[name].serverPids();
  for (const [n, question] of questions.entries()) {
    if (spent.ours > patienceMs) return;
    const answers = {};
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(n + round + turn) % names.length];
      if (spent[name] > patienceMs) continue;
      if (name === 'ours') {
        ledger.first(question);
        kind.asked.push(question);
      }
      const processorMs = countProcessorMs(pids[name]);
      const { ms, answer } = await timed(engines[name], question);
      kind.processor[name].push(processorMs());
      if (answer === undefined) kind.failed += 1;
      kind.times[name].push(ms);
      spent[name] += ms;
      answers[name] = answer;
    }
    await compareAnswers(question, answers, {
      overlaps: kind.overlaps,
      count: n < job.counted && engines.plain?.count,
    }).catch(({ message }) => kind.wrong.push(message));
  }
}

/** If our engine gives up, this is the time until it does; a yardstick must not give up. */
async function timed(engine, question) {
  const begin = performance.now();
  const answer = await engine.ask(question).catch((error) => {
    if (engine !== ours || !(error instanceof ProtocolError)) throw error;
    return undefined;
  });
  return { ms: performance.now() - begin, answer };
}

function* within(maxMs, items) {
  const end = performance.now() + maxMs;
  for (const item of items) {
    if (performance.now() > end) return;
    yield item;
  }
}
