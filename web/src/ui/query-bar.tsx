import { useEffect, useState } from 'preact/hooks';
import { onSubmit } from './on-submit.ts';

/** One field and one button. The text takes effect on submit. */
export function QueryBar(props: {
  label: string;
  placeholder: string;
  button: string;
  value: string;
  submit(value: string): void;
}) {
  const [text, setText] = useState(props.value);
  useEffect(() => setText(props.value), [props.value]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: <search> has no form of its own
    <form
      class="bar-form"
      role="search"
      aria-label={props.button}
      onSubmit={onSubmit(() => props.submit(text.trim()))}
    >
      <input
        type="search"
        aria-label={props.label}
        placeholder={props.placeholder}
        value={text}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="primary">
        {props.button}
      </button>
    </form>
  );
}
