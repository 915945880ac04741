import { maxLimit } from '../../rules/discover/page-answer.ts';
import { isWithin } from '../../rules/time-period.ts';
import { readSubjects } from '../confirm/read-subjects.ts';
import { createDeadline, withinDeadline } from '../deadline.ts';
import { type Evaluation, evaluating } from '../evaluation.ts';
import type { Plan, Question } from '../plan.ts';
import { findMatches, openSearch, readQuery, refreshIndex, type SearchEngine } from '../search.ts';
import type { Tools } from '../tools.ts';
import { createTrace } from '../trace.ts';
import { type AskedResource, findIndexed, type IndexedResource } from './asked-resource.ts';
import { type Check, checkFilter, checkSpatial, checkText } from './check-parts.ts';

// Why a resource is, or is not, in the answer to an intent: runs each check of a search on this resource alone, in the order of a search. Runs all
// checks, even if one fails, because there may be several reasons.

export interface Why {
  /** The examined one, if several have the id. */
  resource?: { id: string; catalogId: string; owner: string };
  checks: Check[];
  /** Its position among all matches, from 1. */
  rank?: number;
}

/** Throws a ProtocolError for an invalid intent, or if it cannot be evaluated in time. */
export async function explainResource(engine: SearchEngine, question: Question, asked: AskedResource) {
  const deadline = createDeadline(engine.config.DISCOVER_TIMEOUT_MS);
  const explain = async (evaluation: Evaluation): Promise<Why> => {
    await refreshIndex(engine, deadline, { mayLag: false });
    const trace = createTrace();
    const { tools, plan } = await openSearch(engine, question, { deadline, evaluation, trace });
    const [resource, ...others] = await findIndexed(tools.reader, asked);
    if (!resource) return { checks: [notIndexed(asked)] };
    const { catalogId, owner } = resource;
    const checks = [indexed(resource, others), ...checkScope(plan, resource)];
    if (plan.filter) checks.push(await checkFilter(tools, plan.filter, resource));
    const [subject] = await readSubjects(tools.reader, [resource.key], { now: plan.scope.now });
    if (!subject) return { checks: [notIndexed(asked)] };
    for (const spatial of plan.spatial) checks.push(await checkSpatial(tools, plan, spatial, subject));
    if (plan.text) checks.push(await checkText(tools, plan, await readQuery(engine, tools, plan), subject));
    const why = { resource: { id: asked.id, catalogId, owner }, checks };
    if (checks.some(({ ok }) => !ok)) return why;
    const rank = await findRank(engine, tools, plan, resource.key);
    return { ...why, checks: [...checks, checkPage(plan, rank)], ...(rank !== undefined && { rank }) };
  };
  return withinDeadline(() => evaluating(engine.threads, { deadline }, explain));
}

function notIndexed({ id, catalogId, owner }: AskedResource): Check {
  const where = `${catalogId === undefined ? '' : ` in a catalog ${catalogId}`}${owner === undefined ? '' : ` of ${owner}`}`;
  return { check: 'indexed', ok: false, detail: `The index has no resource ${id}${where}.` };
}

function indexed({ catalogId, owner }: IndexedResource, others: readonly IndexedResource[]): Check {
  const named = others.map((each) => `${each.catalogId} of ${each.owner}`);
  const more = others.length === 0 ? '' : ` So it is in ${named.join(', ')}.`;
  return { check: 'indexed', ok: true, detail: `It is in the catalog ${catalogId} of ${owner}.${more}` };
}

function checkScope({ scope }: Plan, resource: IndexedResource): Check[] {
  const { networkId, schemaContext, now } = scope;
  const { catalogId, networks, schemaTypes, validity } = resource;
  const checks: Check[] = [checkServed(resource)];
  if (networkId !== undefined)
    checks.push({
      check: 'network',
      ok: networks.length === 0 || networks.includes(networkId),
      detail:
        networks.length === 0
          ? `${catalogId} is visible in every network.`
          : `${catalogId} is visible in ${networks.join(', ')}; the search is in ${networkId}.`,
      got: networks,
    });
  if (schemaContext.length > 0)
    checks.push({
      check: 'schema',
      ok: schemaContext.some((context) => schemaTypes.includes(context)),
      detail: `${catalogId} uses ${schemaTypes.join(', ') || 'no schema'}; the search asks for ${schemaContext.join(' or ')}.`,
      got: schemaTypes,
    });
  checks.push({
    check: 'validity',
    ok: isWithin(validity, now),
    detail: isWithin(validity, now)
      ? `${catalogId} is valid now.`
      : `${catalogId} is not valid now: ${describeValidity(resource)}.`,
    got: validity,
  });
  return checks;
}

function checkServed({ catalogId, type, isActive, isServed }: IndexedResource): Check {
  const fails = (detail: string): Check => ({ check: 'served', ok: false, detail });
  if (type === 'MASTER')
    return fails(
      `${catalogId} is a MASTER catalog: its resources are templates, found only through resources that extend them.`,
    );
  if (!isActive) return fails(`${catalogId} is not active: its publisher says so (isActive).`);
  if (!isServed)
    return fails(
      `${catalogId} is not served: it was withdrawn, is gone from its source, or another source's copy is used.`,
    );
  return { check: 'served', ok: true, detail: `${catalogId} is served.` };
}

function describeValidity({ validity: { from, until, window } }: IndexedResource): string {
  return [
    ...(from ? [`from ${from.toISOString()}`] : []),
    ...(until ? [`until ${until.toISOString()}`] : []),
    ...(window ? [`each day from ${clock(window.start)} to ${clock(window.start + window.length)} UTC`] : []),
  ].join(', ');
}

function clock(ms: number): string {
  return new Date(ms).toISOString().slice(11, 16);
}

/** Undefined if there are more matches than are counted, and it is not among the first. */
async function findRank(engine: SearchEngine, tools: Tools, plan: Plan, key: number) {
  let before = 0;
  for await (const hits of findMatches(engine, tools, { ...plan, paging: { limit: maxLimit } })) {
    if (typeof hits === 'number') return undefined;
    const at = hits.findIndex((hit) => hit.key === key);
    if (at >= 0) return before + at + 1;
    before += hits.length;
    if (before > maxLimit) return undefined;
  }
  return undefined;
}

function checkPage({ paging }: Plan, rank: number | undefined): Check {
  const { limit = maxLimit, offset = 0 } = paging;
  const check = 'limit';
  const tooMany = `It matches, but is not among the first ${maxLimit} matches; further ones are not counted.`;
  if (rank === undefined) return { check, ok: false, detail: tooMany };
  const ok = rank > offset && rank <= offset + limit;
  const page = ok ? '' : `; the page has numbers ${offset + 1} to ${offset + limit}`;
  return { check, ok, detail: `It is number ${rank} of the matches${page}.`, got: rank };
}
