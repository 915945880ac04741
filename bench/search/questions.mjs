// The common part of the questions of all data sets. A question has `message` for us, `body` for OpenSearch and `sql` for PostgreSQL. Where all three
// mean the same, `matches` says whether a document belongs to the answer; where the answer is sorted by distance, `distance` says how far a document
// is.

/** Resources on a page. */
export const limit = 20;
/** Our totals are exact up to here, so no engine counts further. */
export const countedTo = 1_000;

export function filter(condition) {
  return { filters: { type: 'jsonpath', expression: `$.catalogs[*].resources[?${condition}]` } };
}

/** The same typing errors as ours allows: one in words of three to five letters, two in longer ones; two swapped letters are one. */
export function forgivingMatch(query) {
  return { match: { words: { query, fuzziness: 'AUTO', fuzzy_transpositions: true } } };
}

/** Asks for whole documents, so that each engine returns the same. */
export function pageBody({ filters = [], text, sort, size = limit }) {
  const query = { bool: { filter: filters, ...(text !== undefined && { must: [forgivingMatch(text)] }) } };
  return { size, track_total_hits: countedTo, query, ...(sort && { sort }) };
}

export function pageSql(table, condition, values, { order, size = limit } = {}) {
  const text = `select page from ${table} where ${condition}${order ? ` order by ${order}` : ''} limit ${size}`;
  const count = `select count(*)::int from (select from ${table} where ${condition} limit ${countedTo}) as counted`;
  return { text, count, values };
}

/** Any of the words, best first, as one would write it without document frequencies and typing errors. */
export function textSql(table, words, { condition = 'true', values = [], tie = '', size = limit } = {}) {
  const place = `$${values.length + 1}`;
  return pageSql(
    table,
    `${condition} and words @@ to_tsquery('simple', ${place})`,
    [...values, words.join(' | ')],
    { order: `ts_rank(words, to_tsquery('simple', ${place})) desc${tie}`, size },
  );
}

/** By the words of the table that the given word may mean. */
export function misspeltSql(table, word) {
  return {
    text: `with meant as materialized (
        select string_agg(quote_literal(word), ' | ')::tsquery as query from ${table}_word
        where word % $1 and levenshtein_less_equal(word, $1, 2) <= 2)
      select page from meant, ${table} where words @@ query order by ts_rank(words, query) desc limit ${limit}`,
    values: [word],
  };
}

/** Each question once, also among kinds: a word with a typing error may be the beginning of another word. */
export function distinct(kinds) {
  const seen = new Set();
  const isNew = (name) => !seen.has(name) && seen.add(name);
  const once = (questions) => questions.filter((question) => isNew(nameOf(question)));
  return Object.fromEntries(Object.entries(kinds).map(([kind, questions]) => [kind, once(questions)]));
}

/** Combinations of one item per list, all different, in an order that changes all lists at once. */
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

/** Changes one letter of a word, so that it is none of the known words. */
export function misspell(word, known) {
  for (let at = Math.floor(word.length / 2); at < word.length; at += 1)
    for (const letter of 'zyxwvkjqpb') {
      const wrong = word.slice(0, at) + letter + word.slice(at + 1);
      if (letter !== word[at] && !known.has(wrong)) return wrong;
    }
  throw new Error(`every change of ${word} is a word, too`);
}

/** Checks that questions "asked for the first time" were not asked before in this process. */
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
