// 20,000 resources and 30,000 offers that name none of them: each offer applies to each resource. Then filters on the offers.
import { publishOffers, searchOffers } from '../wide-offers.mjs';

export const leavesData = true;

export async function attack(tools) {
  await publishOffers(tools, { resources: 20_000, offers: 30_000 });
  tools.underWay();
  await searchOffers(tools);
}
