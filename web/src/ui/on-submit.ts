export function onSubmit(work: () => unknown): (event: Event) => void {
  return (event) => {
    event.preventDefault();
    work();
  };
}
