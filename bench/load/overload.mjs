// More load than the service can handle, from identities that do not wait: it must refuse with 429 or 503 and Retry-After, and recover soon after.
import { setTimeout as sleep } from 'node:timers/promises';
import { actions } from '../../dist/protocol/actions.js';
import { createRotation } from '../search/requests.mjs';
import { send } from './clients.mjs';
import { atMost } from './goals.mjs';

const quickMs = 300;
/** This many quick answers in a row mean that it has recovered. */
const quickAnswers = 20;
const recoveryGoalSeconds = 5;
const giveUpSeconds = 120;

export async function* measureOverload(service, { data, kept, identities, connections, seconds }) {
  const title = `overload by ${identities * connections} connections of ${identities} identities`;
  const to = service.discoveryUrl;
  const ask = createRotation(data, kept);
  const greedy = [];
  for (let n = 0; n < identities; n += 1)
    greedy.push(await service.participant(`greedy-${n}`, { to, ignoresCallbacks: true }));
  const honest = await service.participant('honest', { to, ignoresCallbacks: true });
  const answers = { accepted: 0, refused: 0, wrong: new Map() };
  const end = performance.now() + seconds * 1000;
  const flood = async (participant) => {
    while (performance.now() < end) note(answers, await attempt(participant, ask()));
  };
  await Promise.all(
    greedy.flatMap((participant) => Array.from({ length: connections }, () => flood(participant))),
  );
  const recovered = await secondsUntilQuick(honest, ask);
  for (const [what, times] of answers.wrong) console.error(`bench: ${title}: ${times} times ${what}`);
  yield { scenario: `${title}: accepted`, value: answers.accepted / seconds, unit: 'requests/s' };
  yield {
    scenario: `${title}: refused with Retry-After`,
    value: answers.refused / seconds,
    unit: 'requests/s',
  };
  yield atMost(0, {
    scenario: `${title}: anything else`,
    value: [...answers.wrong.values()].reduce((sum, times) => sum + times, 0),
    unit: 'answers',
  });
  yield atMost(recoveryGoalSeconds, {
    scenario: `${title}: recovered after`,
    value: recovered,
    unit: 's',
  });
}

async function attempt(participant, question) {
  try {
    return await send(participant, participant.prepare(actions.discover, question));
  } catch ({ code, message }) {
    return { status: code ?? message, headers: {} };
  }
}

function note(answers, { status, headers }) {
  if (status === 200 || status === 202) answers.accepted += 1;
  else if ((status === 429 || status === 503) && headers['retry-after'] !== undefined) answers.refused += 1;
  else answers.wrong.set(status, (answers.wrong.get(status) ?? 0) + 1);
}

async function secondsUntilQuick(participant, ask) {
  const begin = performance.now();
  let firstQuick;
  for (let quick = 0; quick < quickAnswers; ) {
    const asked = performance.now();
    if (asked - begin > giveUpSeconds * 1000) return giveUpSeconds;
    const { status } = await attempt(participant, ask());
    const isQuick = (status === 200 || status === 202) && performance.now() - asked <= quickMs;
    quick = isQuick ? quick + 1 : 0;
    if (quick === 1) firstQuick = asked;
    await sleep(20);
  }
  return (firstQuick - begin) / 1000;
}
