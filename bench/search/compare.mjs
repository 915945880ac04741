// Checks that the engines found the same. Where a question means the same to all of them, they must: otherwise the bench would compare different work.
import { countedTo } from './questions.mjs';

/** OpenSearch stores degrees to about a centimetre. */
const sameMeters = 0.1;

/**
 * For questions that each engine ranks in its own way, `overlaps` collects the share of our page that is also on a yardstick's page. `count` asks
 * plain PostgreSQL for the total.
 */
export async function compareAnswers(question, { ours, ...yardsticks }, { overlaps, count }) {
  if (ours === undefined) return;
  if (question.matches === undefined) {
    for (const [name, answer] of Object.entries(yardsticks))
      if (answer) overlaps[name].push(overlap(ours.pages, answer.pages));
    return;
  }
  const check = (holds, says) => {
    if (!holds) throw new Error(`${says}: ${JSON.stringify(question.message)}`);
  };
  const counted = Object.fromEntries(
    Object.entries({ ours, ...yardsticks }).map(([name, answer]) => [name, answer?.total]),
  );
  if (count && yardsticks.plain) counted.plain = await count(question);
  const totals = Object.values(counted).flatMap((total) =>
    total === undefined ? [] : [Math.min(total, countedTo)],
  );
  // Engines may disagree about places on the circle, where several resources can be: OpenSearch rounds coordinates, so we ask it for 5 cm more.
  const spread = question.distance ? 10 : 0;
  check(Math.max(...totals) - Math.min(...totals) <= spread, `counted ${JSON.stringify(counted)}`);
  for (const [name, answer] of Object.entries({ ours, ...yardsticks })) {
    if (!answer) continue;
    check(
      answer.pages.length === ours.pages.length,
      `${name} lists ${answer.pages.length}, ours ${ours.pages.length}`,
    );
    check(new Set(answer.pages.map(idOf)).size === answer.pages.length, `${name} lists one twice`);
    for (const page of answer.pages)
      check(question.matches(page), `${name} lists ${idOf(page)}, which does not match`);
    if (question.distance)
      check(areAlike(distances(question, ours), distances(question, answer)), `${name} lists others nearest`);
  }
}

function idOf({ resource }) {
  return resource.id;
}

function overlap(pages, others) {
  const ids = new Set(others.map(idOf));
  return pages.length === 0 ? 1 : pages.filter((page) => ids.has(idOf(page))).length / pages.length;
}

/** Resources of one place are equally far, in any order; ours are grouped by catalog. */
function distances({ distance }, { pages }) {
  return pages.map(distance).sort((a, b) => a - b);
}

function areAlike(some, others) {
  return some.every((meters, index) => Math.abs(meters - others[index]) <= sameMeters);
}
