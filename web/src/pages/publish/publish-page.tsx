import { useState } from 'preact/hooks';
import type { CheckAnswer, PublishAnswer } from '../../../../src/console/answers/publish.ts';
import { type ApiError, post } from '../../api/client.ts';
import { asApiError, useLoad, waitForPause } from '../../api/load.ts';
import { Problem } from '../../ui/states.tsx';
import { Editor } from './editor.tsx';
import { Faults } from './faults.tsx';
import { Progress } from './progress.tsx';
import { SendForm, type Way } from './send-form.tsx';
import './publish.css';

const emptyCheck = { parsed: false, faults: [], warnings: [], catalogs: [] };

export default function PublishPage() {
  const [text, setText] = useState('');
  const [way, setWay] = useState<Way>();
  const [chosen, setAs] = useState<string>();
  const [goTo, setGoTo] = useState<{ line: number; column?: number }>();
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<{ of: string; sent?: PublishAnswer; error?: ApiError }>();
  const isBlank = text.trim() === '';
  // The publisher signs its own files.
  const as = way === 'files' ? undefined : chosen;
  const checked = useLoad(isBlank ? undefined : `${as} ${text}`, (signal) =>
    waitForPause(signal).then(() => post<CheckAnswer>('/api/publish/check', { text, as }, signal)),
  );
  // The outcome of a publish is not shown below another text, even if it arrives later.
  const current = `${way} ${as} ${text}`;
  const { sent, error } = outcome?.of === current ? outcome : {};
  const { faults, warnings, catalogs } = checked.data ?? emptyCheck;
  const send = async (by: Way) => {
    setBusy(true);
    setOutcome(undefined);
    try {
      setOutcome({ of: current, sent: await post<PublishAnswer>('/api/publish', { text, way: by, as }) });
    } catch (thrown) {
      setOutcome({ of: current, error: asApiError(thrown) });
    }
    setBusy(false);
  };
  return (
    <>
      <header class="page-head">
        <h1>Publish</h1>
        <p>
          Paste a catalog, a list of catalogs or a publish request. It is checked as you type, by the rules of
          the service.
        </p>
      </header>
      <div class="publish">
        <Editor text={text} change={setText} faults={faults} warnings={warnings} goTo={goTo} />
        <div class="stack publish-side">
          <section class="panel stack" aria-labelledby="check-title">
            <h2 id="check-title">Check</h2>
            {checked.error && <Problem error={checked.error} retry={checked.reload} />}
            <Faults isBlank={isBlank} loading={checked.loading} checked={checked.data} goTo={setGoTo} />
          </section>
          <section class="panel stack" aria-labelledby="send-title">
            <h2 id="send-title">Publish</h2>
            <SendForm
              ready={!isBlank && !checked.loading && faults.length === 0 && catalogs.length > 0}
              busy={busy}
              chosen={way}
              choose={setWay}
              as={chosen}
              chooseAs={setAs}
              send={(by) => void send(by)}
            />
            {error && <Problem error={error} />}
            {sent && <Progress key={sent.messageId} sent={sent} />}
          </section>
        </div>
      </div>
    </>
  );
}
