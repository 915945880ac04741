// Filters that take as long as allowed.
const expressions = [
  '$.catalogs[*].resources[?count($..*..*..*..*) > 1]',
  '$.catalogs[*].resources[?count(@..*..*..*..*..*) == 1]',
  "$.catalogs[*].resources[?search(@.descriptor.shortDesc, '((a|b)*a(a|b){300})+c')]",
];

/** Their intents, one after another, without end. */
export function* costlyFilters() {
  for (let asked = 0; ; asked += 1) {
    const expression = expressions[asked % expressions.length];
    yield { filters: { type: 'jsonpath', expression } };
  }
}
