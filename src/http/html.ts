/** HTML that is safe to put into a page. Only `html` makes it and escapes everything else. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlValue = Html | string | number | undefined | false | readonly HtmlValue[];

export function html(texts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return new Html(texts.reduce((page, text, index) => page + render(values[index - 1]) + text));
}

function render(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(render).join('');
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
