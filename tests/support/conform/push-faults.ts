import type { Body } from '../network/actor.ts';
import { dropped, push, resultOf, stranger } from './catalog-fault-parts.ts';
import { inMessage, type PlantedFault } from './request-faults.ts';

// Faults of pushes in a catalog service, one for each check that should find it.

export const pushFaults: PlantedFault[] = [
  inMessage('push-comes', 'none comes', push, dropped, 'alone'),
  inMessage('push-signed', 'another key signs', push, (message) => {
    message.signer = stranger();
  }),
  inMessage('push-sender', 'bppId is that of the publisher', push, ({ body }) => {
    body.context.bppId = 'somebody.example';
  }),
  inMessage(
    'push-shape',
    'directives are missing',
    push,
    ({ body }) => delete body.message.publishDirectives,
  ),
  inMessage('push-keeps-publisher', 'bppId is that of the service', push, ({ body }) => {
    for (const one of body.message.catalogs) one.bppId = 'somebody.example';
  }),
  inMessage('push-matches-type', 'everything is pushed', push, (message) => {
    const body = structuredClone(message.body);
    body.message.catalogs[0].id = body.message.catalogs[0].id.replace(/chargers$/, 'plain');
    message.also = [...(message.also ?? []), { action: 'catalog/push', body }];
  }),
  pushedForEver(),
];

/** Pushes continue after the end of the subscription. */
function pushedForEver(): PlantedFault {
  let last: Body;
  return {
    ...{ check: 'push-while-active', what: 'pushes go on after the end', group: 1 },
    message(message) {
      if (push(message)) last = structuredClone(message.body);
      if (!resultOf('chargers')(message) || !resultOf('master')(message)) return;
      const body = structuredClone(last);
      body.message.catalogs[0].resources = [{ id: `${body.message.catalogs[0].id}-withdrawn` }];
      message.also = [...(message.also ?? []), { action: 'catalog/push', body }];
    },
  };
}
