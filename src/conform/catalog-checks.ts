import { attributeChecks } from './attribute-checks.ts';
import type { CatalogScene } from './catalog-scene.ts';
import type { Check } from './check.ts';
import { masterChecks, searchChecks, updateChecks } from './distribution-checks.ts';
import { messageChecks } from './message-checks.ts';
import { onPublishOnce, publishChecks } from './publish-checks.ts';
import { pullChecks } from './pull-checks.ts';
import { noPushChecks, pushChecks } from './push-checks.ts';
import { authenticationChecks, contextChecks, refusalChecks } from './request-checks.ts';
import { endingChecks, subscriptionChecks } from './subscription-checks.ts';

/** All checks of a catalog service, in order. Checks that expect no message come last. */
export const catalogChecks: readonly Check<CatalogScene>[] = [
  ...authenticationChecks,
  ...contextChecks,
  ...subscriptionChecks,
  ...publishChecks,
  ...attributeChecks,
  ...pushChecks,
  ...searchChecks,
  ...updateChecks,
  ...masterChecks,
  ...pullChecks,
  ...endingChecks,
  ...noPushChecks,
  ...onPublishOnce,
  ...messageChecks,
  ...refusalChecks,
];
