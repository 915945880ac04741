import type { Body } from '../network/actor.ts';
import {
  catalog,
  found,
  has,
  isOrphans,
  named,
  refused,
  result,
  resultOf,
  search,
  sent,
} from './catalog-fault-parts.ts';
import { accepted, coded, inAnswer, inMessage, type PlantedFault } from './request-faults.ts';

// Faults of search in a catalog service, and of publishes as searches show them, one for each check that should find it.

const plainSearch = found((message) => Object.keys(message).length === 0);
const regular = found(({ filters }) => filters?.type === 'REGULAR');

/** Removes a resource from a catalog. */
function drop(one: Body, name: string): void {
  one.resources = one.resources.filter((resource: Body) => !named(name)(resource));
}

export const searchFaults: PlantedFault[] = [
  inAnswer('search-envelope', 'the action is that of the request', plainSearch, ({ body }) => {
    body.context.action = 'catalog/search';
  }),
  inAnswer('search-defaults', 'the page has another size', plainSearch, ({ body }) => {
    body.message.pagination.limit = 10;
  }),
  inAnswer(
    'search-finds',
    'nothing is found by its schema type',
    found(({ filters }) => filters?.schemaTypes),
    ({ body }) => {
      body.message.catalogs = [];
    },
  ),
  inAnswer(
    'search-assembled',
    'provider is missing',
    found(({ filters, limit }) => filters?.type === 'REGULAR' && limit === undefined),
    ({ body }) => delete body.message.catalogs[0].provider,
  ),
  foundWithoutType(),
  inAnswer(
    'search-networks',
    'the network does not matter',
    found(({ filters }) => filters?.networkIds?.[0]?.endsWith('/none')),
    ({ body }, request) => {
      const [network] = sent(request).filters.networkIds;
      body.message.catalogs.push({ id: network.replace(/network\.example\/none$/, 'plain') });
    },
  ),
  inAnswer(
    'search-limit-kept',
    'more than limit come',
    found(({ limit, filters }) => limit === 1 && filters?.type),
    ({ body }) => body.message.catalogs.push(body.message.catalogs[0]),
  ),
  inAnswer(
    'search-limit-range',
    'any limit is taken',
    refused(search, ({ limit }) => limit === 101),
    accepted,
  ),
  inAnswer(
    'enum-invalid',
    'another code',
    refused(search, ({ filters }) => filters?.type === 'OTHER'),
    coded('SCH_SCHEMA_VALIDATION_FAILED'),
  ),
  inAnswer(
    'merge-retains',
    'what is not named is lost',
    regular,
    catalog('chargers', (one) => {
      if (has(one, 'r3') && !has(one, 'r5')) drop(one, 'r1');
    }),
  ),
  inAnswer(
    'merge-upserts',
    'what is there stays',
    regular,
    catalog('chargers', (one) => {
      for (const resource of one.resources.filter(named('r2'))) resource.descriptor.name = 'as before';
    }),
  ),
  inAnswer(
    'merge-default',
    'without a mode, the catalog is replaced',
    regular,
    catalog('chargers', (one) => {
      if (has(one, 'r5')) drop(one, 'r3');
    }),
  ),
  inAnswer(
    'full-replaces',
    'what is not named stays',
    regular,
    catalog('chargers', (one) => {
      if (has(one, 'r4')) one.resources.push({ id: one.id.replace(/chargers$/, 'r1') });
    }),
  ),
  inAnswer(
    'master-inherited',
    'the template is forgotten',
    regular,
    catalog('extending', (one) => {
      for (const resource of one.resources) delete resource.resourceAttributes?.attributes;
    }),
  ),
  inMessage(
    'template-immutable',
    'values of the template may differ',
    resultOf('extending'),
    result('extending', (one) => {
      one.status = 'ACCEPTED';
    }),
  ),
  inMessage(
    'master-known',
    'any master will do',
    isOrphans,
    result('orphans', (one) => {
      one.status = 'ACCEPTED';
    }),
  ),
  inMessage(
    'master-without-offers',
    'a MASTER may have offers',
    resultOf('offering'),
    result('offering', (one) => {
      one.status = 'ACCEPTED';
    }),
  ),
];

/** A search without a type finds REGULAR catalogs. */
function foundWithoutType(): PlantedFault {
  let regularOne: Body;
  const withoutType = found(({ filters, limit }) => filters?.networkIds && !filters.type && limit === 100);
  return {
    ...{ check: 'search-masters', what: 'REGULAR ones are found without a type', group: 1 },
    answer(answer, request) {
      const { catalogs } = sent(request);
      if (Array.isArray(catalogs)) regularOne = catalogs.find(named('plain')) ?? regularOne;
      if (withoutType(request, answer)) answer.body.message.catalogs.push(regularOne);
    },
  };
}
