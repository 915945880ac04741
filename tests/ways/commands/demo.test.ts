import { describe, expect, it } from 'vitest';
import { publisherMessage, secondPublisherMessage, servicePublishes } from '../../../src/demo/network.ts';
import { questions } from '../../../src/demo/questions.ts';
import { silentLogger } from '../../../src/logger.ts';
import { checkDiscoverMessage, DiscoverMessage } from '../../../src/protocol/discover-messages.ts';
import { checkPublishMessage, PublishMessage } from '../../../src/protocol/publish-messages.ts';
import { validator } from '../../../src/protocol/validate.ts';
import { openSchemaStore } from '../../../src/schemas/schema-store.ts';

// The content of the demo network before the first publish.

const network = 'nfh.global/beckn-nodes';
const messages = () => [
  ...servicePublishes(network).map(({ message }) => message),
  publisherMessage(network),
  secondPublisherMessage(network).message,
];
const catalogs = messages().flatMap((message) => message.catalogs);

describe('the demo network', () => {
  it('is always the same', () => {
    expect(messages()).toEqual(messages());
  });

  it('has some hundred resources and prices, under ids that are unique', () => {
    const resources = catalogs.flatMap(({ resources = [] }) => resources.map(({ id }) => id));
    expect(resources.length).toBeGreaterThan(250);
    expect(new Set(resources).size).toBe(resources.length);
    const offers = catalogs.flatMap(({ offers = [] }) => offers);
    expect(offers.filter(({ considerations = [] }) => considerations.length > 0).length).toBeGreaterThan(150);
    expect(new Set(catalogs.map(({ id }) => id)).size).toBe(catalogs.length);
  });

  it.each(messages().map((message) => [message.catalogs[0]?.id ?? '', message] as const))(
    'publishes what is valid, from %s on',
    (_name, message) => {
      validator(PublishMessage)(structuredClone(message));
      checkPublishMessage(message);
    },
  );

  it('has a consumer whose questions are valid', () => {
    for (const message of questions) {
      validator(DiscoverMessage)(structuredClone(message));
      checkDiscoverMessage(message);
    }
  });

  it('has chargers that their schema takes, all but the one that is wrong on purpose', async () => {
    const store = await openSchemaStore({ logger: silentLogger() });
    const { check } = store.checker();
    const faults = [];
    for (const { id: catalogId, resources = [] } of catalogs)
      for (const { id, resourceAttributes } of resources) {
        if (resourceAttributes?.['@type'] !== 'EnergyResourceEVCharger') continue;
        for (const fault of check(resourceAttributes)) faults.push([catalogId, id, fault]);
      }
    await store.close();
    expect(faults).toEqual([['voltpath-hsr-layout', 'voltpath:HSR-1', expect.anything()]]);
  });

  it('stands in its city', () => {
    const positions = JSON.stringify(catalogs).matchAll(/\[(\d+\.\d+),(\d+\.\d+)\]/g);
    const found = [...positions].map(([, longitude, latitude]) => [Number(longitude), Number(latitude)]);
    expect(found.length).toBeGreaterThan(150);
    for (const [longitude = 0, latitude = 0] of found) {
      expect(longitude).toBeGreaterThan(77.4);
      expect(longitude).toBeLessThan(77.8);
      expect(latitude).toBeGreaterThan(12.8);
      expect(latitude).toBeLessThan(13.15);
    }
  });
});
