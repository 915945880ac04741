/** SQL: the deliveries that are not tried again by themselves, as partial indexes have them. */
export const isParked = {
  callback: "state in ('refused', 'parked')",
  push: "state in ('parked', 'no endpoint')",
};
