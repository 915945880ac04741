// 2,000 resources and 2,000 offers that name none of them, with words similar to those that others search for.
import { publishOffers, searchOffers } from '../wide-offers.mjs';

export const leavesData = true;

export async function attack(tools) {
  await publishOffers(tools, { resources: 2_000, offers: 2_000, word: 'offer' });
  tools.underWay();
  await searchOffers(tools);
}
