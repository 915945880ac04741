// What the questions of all data sets have in common.

export const limit = 20;

export function filter(condition) {
  return { filters: { type: 'jsonpath', expression: `$.catalogs[*].resources[?${condition}]` } };
}

/** A page of the rows that satisfy a condition, in plain SQL. */
export function plainPage(table, condition, values, { order = 'key' } = {}) {
  return {
    text: `select document::text from ${table} where ${condition} order by ${order} limit ${limit}`,
    values,
  };
}
