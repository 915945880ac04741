// The common part of the questions of all data sets. A question has `message` for us, `body` for OpenSearch and `sql` for PostgreSQL; where all
// three mean the same, `matches` tells whether a document belongs to its answer and `distance`, where the answer is in order of distance, how far it is.

/** Resources on a page. */
export const limit = 20;
/** Ours are exact up to here, so nobody is asked to count further. */
export const countedTo = 1_000;

export function filter(condition) {
  return { filters: { type: 'jsonpath', expression: `$.catalogs[*].resources[?${condition}]` } };
}

/** Typing errors as ours forgives them: one in three to five letters, two in more; two swapped letters are one. */
export function forgivingMatch(query) {
  return { match: { words: { query, fuzziness: 'AUTO', fuzzy_transpositions: true } } };
}

/** The same for all documents of the page, so that each engine gives the same. */
export function pageBody({ filters = [], text, sort, size = limit }) {
  const query = { bool: { filter: filters, ...(text !== undefined && { must: [forgivingMatch(text)] }) } };
  return { size, track_total_hits: countedTo, query, ...(sort && { sort }) };
}

export function pageSql(table, condition, values, { order, size = limit } = {}) {
  const text = `select page from ${table} where ${condition}${order ? ` order by ${order}` : ''} limit ${size}`;
  const count = `select count(*)::int from (select from ${table} where ${condition} limit ${countedTo}) as counted`;
  return { text, count, values };
}

/** Any of the words, the best first, as one writes it without document frequencies and typing errors. */
export function textSql(table, words, { condition = 'true', values = [], tie = '', size = limit } = {}) {
  const place = `$${values.length + 1}`;
  return pageSql(
    table,
    `${condition} and words @@ to_tsquery('simple', ${place})`,
    [...values, words.join(' | ')],
    { order: `ts_rank(words, to_tsquery('simple', ${place})) desc${tie}`, size },
  );
}

/** By the words of the table that the given one may stand for. */
export function misspeltSql(table, word) {
  return {
    text: `with meant as materialized (
        select string_agg(quote_literal(word), ' | ')::tsquery as query from ${table}_word
        where word % $1 and levenshtein_less_equal(word, $1, 2) <= 2)
      select page from meant, ${table} where words @@ query order by ts_rank(words, query) desc limit ${limit}`,
    values: [word],
  };
}

/** Each question once: what two catalogs lead to alike is left out. */
export function distinct(questions) {
  return [...new Map(questions.map((question) => [nameOf(question), question])).values()];
}

/** Combinations of one of each list, every one another, in an order that changes all lists at once. */
export function* combinations(...lists) {
  const count = lists.reduce((product, list) => product * list.length, 1);
  // A prime number that divides no length: its multiples reach every combination.
  const step = 7_919;
  for (let n = 0; n < count; n += 1) {
    let rest = (n * step) % count;
    yield lists.map((list) => {
      const chosen = list[rest % list.length];
      rest = Math.floor(rest / list.length);
      return chosen;
    });
  }
}

/** One letter of a word is another one: so the word is none of those given. */
export function misspell(word, known) {
  for (let at = Math.floor(word.length / 2); at < word.length; at += 1)
    for (const letter of 'zyxwvkjqpb') {
      const wrong = word.slice(0, at) + letter + word.slice(at + 1);
      if (letter !== word[at] && !known.has(wrong)) return wrong;
    }
  throw new Error(`every change of ${word} is a word, too`);
}

/** Sees to it that what counts as asked for the first time was asked by nobody before, in this process. */
export function createLedger() {
  const asked = new Set();
  return {
    first(question) {
      const name = nameOf(question);
      if (asked.has(name)) throw new Error(`asked before, so not for the first time: ${name}`);
      asked.add(name);
    },
    again(question) {
      if (!asked.has(nameOf(question)))
        throw new Error(`not asked before, so not again: ${nameOf(question)}`);
    },
  };
}

function nameOf({ message: { intent, limit } }) {
  return JSON.stringify([intent, limit]);
}
