import { onPull, search, subscription } from './catalog-fault-parts.ts';
import { publishFaults } from './publish-faults.ts';
import { pullFaults } from './pull-faults.ts';
import { pushFaults } from './push-faults.ts';
import { messageFaults, type PlantedFault, requestFaults } from './request-faults.ts';
import { searchFaults } from './search-faults.ts';
import { subscriptionFaults } from './subscription-faults.ts';

/** Faults of a catalog service, one for each check that should find it; those of downloads are in pull-faults.ts. */
export const catalogFaults: readonly PlantedFault[] = [
  ...requestFaults(search, { method: 'GET', path: subscription }),
  ...subscriptionFaults,
  ...publishFaults,
  ...pushFaults,
  ...searchFaults,
  ...pullFaults,
  ...messageFaults(onPull),
];
